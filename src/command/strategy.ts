import type { ResourceObject } from '../resource/object/object.ts';
import type { Refused } from './refuse.ts';
import type { Subject } from './subject.ts';

/**
 * The rules of a platform type that its schema cannot express, and the conversion of a requested object to the stored
 * object. A strategy must be pure. Kubernetes' registry has the same concept.
 */
export type Strategy = {
  complete(completion: Completion): Completed;
  /**
   * Returns the finalizers of a marked object. The finalizers block the removal, and the reuse of the name, until the
   * platform has cleaned up.
   */
  heldBy?(domain: string): readonly string[];
};

export type Completion = {
  /** The stored object; undefined for a new object. */
  readonly before: ResourceObject | undefined;
  /**
   * The object that the write would store, with a valid schema and valid metadata. Without a status subresource,
   * `status` is the status that the writer sent.
   */
  readonly after: ResourceObject;
  readonly subject: Subject;
  readonly domain: string;
  /** The time of the write (RFC 3339, UTC, milliseconds). */
  readonly now: string;
  /** Undefined until the secret is stored in `secret:<uid>`. */
  readonly kept: Kept | undefined;
};

/**
 * `withheld` is a secret that was removed from the object, or that must be generated. The secret is stored in a
 * separate stream before the object's event is appended.
 */
export type Completed =
  Refused | { readonly ok: true; readonly object: ResourceObject; readonly withheld?: Withheld | undefined };

export type Withheld =
  | { readonly kind: 'password'; readonly text: string }
  /** The text of a personal access token (`pat`) or of a session (`ses`) must be generated. */
  | { readonly kind: 'token'; readonly prefix: 'pat' | 'ses' };

export type Kept = {
  /**
   * The revision of the secret in the stream `secret:<uid>`. A secret is valid only if an object event contains its
   * revision. A secret that is stored without a later object event is thus not valid.
   */
  readonly revision: number;
  /** The generated text. Only the response of this write contains the text, as `status.token`. */
  readonly token?: string;
};
