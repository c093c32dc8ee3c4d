import type { ResourceObject } from '../resource/object/object.ts';
import type { Refused } from './refuse.ts';
import type { Subject } from './subject.ts';

/**
 * What one of the platform's own types asks of a write beside its schema: how an object becomes the one that is stored.
 * Part of deciding, so it is pure (Kubernetes' registry calls the same a strategy).
 */
export type Strategy = {
  complete(completion: Completion): Completed;
  /** Finalizers that an object gets when it is marked: what the platform has to do before its name is free. */
  heldBy?(domain: string): readonly string[];
};

export type Completion = {
  /** What is stored; undefined for a create. */
  readonly before: ResourceObject | undefined;
  /** What the write would store, schema and metadata found right. `status` is the writer's own. */
  readonly after: ResourceObject;
  readonly subject: Subject;
  readonly domain: string;
  /** RFC 3339, UTC, milliseconds. */
  readonly now: string;
  /** Present once what was withheld has been put into `secret:<uid>`. */
  readonly kept: Kept | undefined;
};

/** `withheld`: taken out of the object, or drawn for it; it is kept in a stream of its own before the object's event goes out. */
export type Completed = Refused | { readonly ok: true; readonly object: ResourceObject; readonly withheld?: Withheld | undefined };

export type Withheld =
  | { readonly kind: 'password'; readonly text: string }
  /** To be drawn: the text of a personal access token, or of a session. It begins with the prefix, which tells one from the other. */
  | { readonly kind: 'token'; readonly prefix: 'pat' | 'ses' };

export type Kept = {
  /** The revision of `secret:<uid>` at which it is kept. Only what an object's event names counts, so a crash between leaves nothing valid. */
  readonly revision: number;
  /** What was drawn, to be shown in the answer of this one write as `status.token`. */
  readonly token?: string;
};
