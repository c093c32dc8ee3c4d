import type { ResourceObject } from '../resource/object/object.ts';
import type { Refused } from './refuse.ts';
import type { Subject } from './subject.ts';

/**
 * The rules of a platform type that the type's schema cannot express, and the conversion of the object in a request to
 * the object that is stored. A strategy is a part of the decision, so it must be pure. Kubernetes' registry has the
 * same concept.
 */
export type Strategy = {
  complete(completion: Completion): Completed;
  /**
   * Returns the finalizers that are added when an object is marked. They block the removal of the object until the
   * platform has cleaned up, so that the name is not reused earlier.
   */
  heldBy?(domain: string): readonly string[];
};

export type Completion = {
  /** The stored object; undefined for a new object. */
  readonly before: ResourceObject | undefined;
  /**
   * The object that the write would store. The schema and the metadata have been validated. If the type has no status
   * subresource, `status` is the status that the writer sent.
   */
  readonly after: ResourceObject;
  readonly subject: Subject;
  readonly domain: string;
  /** The time of the write, as in RFC 3339, in UTC and with milliseconds. */
  readonly now: string;
  /** Undefined until the secret is stored in `secret:<uid>`. */
  readonly kept: Kept | undefined;
};

/**
 * `withheld`: a secret that was removed from the object, or that must be generated for it. The secret is stored in a
 * separate stream before the object's event is appended.
 */
export type Completed =
  Refused | { readonly ok: true; readonly object: ResourceObject; readonly withheld?: Withheld | undefined };

export type Withheld =
  | { readonly kind: 'password'; readonly text: string }
  /** The text of a personal access token (`pat`) or of a session (`ses`), which is to be generated. */
  | { readonly kind: 'token'; readonly prefix: 'pat' | 'ses' };

export type Kept = {
  /**
   * The revision of the secret in the stream `secret:<uid>`. A secret is valid only if an object event contains its
   * revision. Thus a secret that was stored without a later object event, for example because of a crash, is not valid.
   */
  readonly revision: number;
  /** The generated text, which only the response of this write contains, as `status.token`. */
  readonly token?: string;
};
