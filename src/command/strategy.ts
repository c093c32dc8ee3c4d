import type { ResourceObject } from '../resource/object/object.ts';
import type { Refused } from './refuse.ts';
import type { Subject } from './subject.ts';

/**
 * The rules of a platform type that its schema cannot express: how a requested object becomes the stored one. It is a
 * part of deciding, so it is pure; Kubernetes' registry has the same concept.
 */
export type Strategy = {
  complete(completion: Completion): Completed;
  /** Finalizers added when an object is marked: the platform's cleanup before the name is free. */
  heldBy?(domain: string): readonly string[];
};

export type Completion = {
  /** The stored object; undefined for a create. */
  readonly before: ResourceObject | undefined;
  /** The object that the write would store; schema and metadata are valid. `status` is the writer's. */
  readonly after: ResourceObject;
  readonly subject: Subject;
  readonly domain: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly now: string;
  /** Present once the secret is stored in `secret:<uid>`. */
  readonly kept: Kept | undefined;
};

/**
 * `withheld`: a secret removed from the object or generated for it. It is stored in its own stream before the object's
 * event is appended.
 */
export type Completed =
  Refused | { readonly ok: true; readonly object: ResourceObject; readonly withheld?: Withheld | undefined };

export type Withheld =
  | { readonly kind: 'password'; readonly text: string }
  /** The text of a personal access token or of a session, to be generated. The prefix distinguishes the two. */
  | { readonly kind: 'token'; readonly prefix: 'pat' | 'ses' };

export type Kept = {
  /**
   * The revision of `secret:<uid>` that holds the secret. Only a secret that an object event names is valid, so a crash
   * in between leaves nothing valid.
   */
  readonly revision: number;
  /** The generated text, shown once, in this write's response as `status.token`. */
  readonly token?: string;
};
