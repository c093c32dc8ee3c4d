import type { JsonObject, JsonValue, ResourceObject } from '../resource/object/object.ts';
import type { Cause, CausingEvent } from './event.ts';
import type { Propagation } from './propagation.ts';
import type { Rejection } from './rejection.ts';
import type { Subject } from './subject.ts';

/** A requested change of one object. A decision depends only on the command, the state and the facts. */
export type Command =
  /**
   * `object` is the body of the request, perhaps without apiVersion and kind. Metadata that the server manages is
   * replaced (decision 1.4).
   */
  | { readonly type: 'create'; readonly object: JsonObject }
  /**
   * PUT. For the parts `main` and `status`, `object` is the whole object. For the part `scale`, `object` is a Scale.
   */
  | {
      readonly type: 'replace';
      readonly name: string;
      readonly object: JsonObject;
      readonly part: Part | 'scale';
      readonly preconditions: Preconditions;
    }
  | {
      readonly type: 'patch';
      readonly name: string;
      /** For the part `scale`, the patch applies to the object's Scale. */
      readonly patch: Patch;
      readonly part: Part | 'scale';
      readonly preconditions: Preconditions;
    }
  /**
   * Marks the object for deletion, and removes an object without finalizers. Without `propagation`, the finalizers
   * determine what happens to the dependents.
   */
  | {
      readonly type: 'delete';
      readonly name: string;
      readonly preconditions: Preconditions;
      readonly propagation?: Propagation | undefined;
    }
  /**
   * Writes the labels, the annotations and the members of `past`, except for the status. `past` is an earlier state of
   * an object with this name.
   */
  | {
      readonly type: 'restore';
      readonly name: string;
      readonly past: ResourceObject;
      readonly preconditions: Preconditions;
    }
  /** Changes nothing. Refused if the object does not exist. */
  | { readonly type: 'find'; readonly name: string }
  /** Sent by garbage collection. Removes the object with this uid, which must be marked and have no finalizers. */
  | { readonly type: 'collect'; readonly name: string; readonly uid: string }
  /**
   * Sent by the platform. Appends the object again at the next revision, if the object has this uid and version. The
   * new event contains the object's values in the indexes that are unique now, except for values that cannot be
   * indexed.
   */
  | { readonly type: 'fence'; readonly name: string; readonly uid: string; readonly version: number };

/**
 * The part of an object that a write changes. A write of `main` ignores the status if the type has the status
 * subresource. A write of `status` ignores all other members, except for preconditions in the metadata.
 */
export type Part = 'main' | 'status';

export type Patch =
  /** RFC 6902. */
  | { readonly kind: 'json'; readonly operations: readonly JsonValue[] }
  /** RFC 7396. */
  | { readonly kind: 'merge'; readonly document: JsonValue };

/**
 * Preconditions in addition to the preconditions in the body (metadata.version, resourceVersion and uid; decisions 2.2,
 * 1.4).
 */
export type Preconditions = {
  /**
   * `If-Match`: the write is refused with 412 unless the list contains the current version. `any` matches every
   * version.
   */
  readonly ifMatch?: readonly number[] | 'any';
  /** DeleteOptions.preconditions. A write is refused with 409 if the uid or the resourceVersion differs. */
  readonly uid?: string;
  readonly resourceVersion?: string;
};

/** The caller and the options of a write. */
export type WriteContext = {
  /** The author of the write. The write is checked against the author's rights. */
  readonly subject: Subject;
  readonly cause: Cause;
  /**
   * The event that caused the step, for a write in a step of a reconciler. Undefined for other writes, and for steps
   * without a cause.
   */
  readonly causedBy?: CausingEvent | undefined;
  /** `dryRun=All`: the write is checked, but nothing is appended. */
  readonly dryRun: boolean;
  /**
   * The handling of unknown fields (decision 1.9). If undefined, unknown metadata is refused, and the schema decides
   * about other unknown fields.
   */
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore' | undefined;
  /** The kind of author. A write with the origin `plugin` must not set reserved labels (decision 1.8). */
  readonly origin: 'client' | 'plugin' | 'platform';
  /**
   * The rate limits count the write for this subject; by default for `subject`. A write of a plugin's route is counted
   * for the caller of the route.
   */
  readonly chargedTo?: Subject;
  /**
   * The visitor's address, for a write that is charged to a visitor. The rate limits belong to the network of the
   * address. By default, the address in `cause`.
   */
  readonly chargedFrom?: string;
  /** Marks a write of the writer's own token, session or profile. Stricter rate limits apply in addition. */
  readonly isOwn?: true;
  /**
   * The limits that do not apply. `counted`: the write is already counted, so only its bytes are limited. `whole`: the
   * write belongs to a series that must complete, so no rate limit refuses the write.
   */
  readonly admitted?: 'counted' | 'whole';
  /** Marks a write of an object from the files of an installed plugin. Such a write may use the disk reserve. */
  readonly isShipped?: true;
  /** Returns a signal that aborts when the client disconnects. Called only if the write queues for expensive work. */
  readonly signal?: () => AbortSignal;
};

export type WriteOutcome =
  | {
      readonly ok: true;
      /** The JSON of the response. */
      readonly bytes: Uint8Array;
      /** `metadata.version` in the response. */
      readonly version: number;
      readonly name: string;
      /** False if nothing was appended, because of a dry run or a write without changes. */
      readonly appended: boolean;
      /** Texts for `Warning: 299` headers. */
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly rejection: Rejection };
