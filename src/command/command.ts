import type { JsonObject, JsonValue, ResourceObject } from '../resource/object/object.ts';
import type { Cause, CausingEvent } from './event.ts';
import type { Propagation } from './propagation.ts';
import type { Rejection } from './rejection.ts';
import type { Subject } from './subject.ts';

/**
 * A requested change of one object. A decision depends only on the command, the state and the facts. The facts include
 * the time, the uid and the random part of a name, so a decision is pure.
 */
export type Command =
  /**
   * `object` is the body of the request. apiVersion and kind may be absent; metadata that the server manages is
   * replaced (decision 1.4).
   */
  | { readonly type: 'create'; readonly object: JsonObject }
  /**
   * PUT. For the parts `main` and `status`, `object` is the whole object, of which the part is written. For the part
   * `scale`, `object` is a Scale.
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
   * Marks the object for deletion, and removes the object if it has no finalizers. If `propagation` is absent, the
   * object's finalizers determine what happens to the dependents.
   */
  | {
      readonly type: 'delete';
      readonly name: string;
      readonly preconditions: Preconditions;
      readonly propagation?: Propagation | undefined;
    }
  /**
   * Writes the labels, the annotations and the members of `past` to the object, except for the status. `past` is an
   * earlier state of the name.
   */
  | {
      readonly type: 'restore';
      readonly name: string;
      readonly past: ResourceObject;
      readonly preconditions: Preconditions;
    }
  /** Changes nothing. The command is refused if the object does not exist. */
  | { readonly type: 'find'; readonly name: string }
  /** Sent by garbage collection. Removes the object with this uid. The object must be marked and have no finalizers. */
  | { readonly type: 'collect'; readonly name: string; readonly uid: string }
  /**
   * Sent by the platform. Appends the object again at the next revision, if the object has this uid and version. The
   * event is decided by the declaration in force, so the event contains the object's values in the indexes that are
   * unique now. Values that cannot be indexed are left out.
   */
  | { readonly type: 'fence'; readonly name: string; readonly uid: string; readonly version: number };

/**
 * The part of an object that a write changes. A write of `main` ignores the status if the type has the status
 * subresource. A write of `status` ignores all other members, except the preconditions in the metadata.
 */
export type Part = 'main' | 'status';

export type Patch =
  /** RFC 6902. `resource/object/patch.ts` decodes the operations. */
  | { readonly kind: 'json'; readonly operations: readonly JsonValue[] }
  /** RFC 7396. */
  | { readonly kind: 'merge'; readonly document: JsonValue };

/** Preconditions in addition to those in the body (metadata.version, resourceVersion and uid; decisions 2.2, 1.4). */
export type Preconditions = {
  /**
   * `If-Match`: the write is refused with 412 unless the current version is one of these versions. `any` accepts every
   * version.
   */
  readonly ifMatch?: readonly number[] | 'any';
  /** DeleteOptions.preconditions. A write is refused with 409 if the object has another uid or resourceVersion. */
  readonly uid?: string;
  readonly resourceVersion?: string;
};

/** The caller and the options of a write, the same for every kind of command. */
export type WriteContext = {
  /**
   * The author of the write. The rights of the author are checked, even if another part of the platform performs the
   * write.
   */
  readonly subject: Subject;
  readonly cause: Cause;
  /**
   * For a write in a step of a reconciler: the event that caused the step. Absent for other writes, and for a step
   * without a cause.
   */
  readonly causedBy?: CausingEvent | undefined;
  /** `dryRun=All`: the write is checked, but nothing is appended. */
  readonly dryRun: boolean;
  /**
   * The handling of unknown fields (decision 1.9). If undefined, unknown metadata is refused, and the schema decides
   * whether other unknown fields are refused.
   */
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore' | undefined;
  /** The kind of author. A write with the origin `plugin` must not set reserved labels (decision 1.8). */
  readonly origin: 'client' | 'plugin' | 'platform';
  /**
   * The subject with the rate limits that apply to the write; if undefined, `subject`. A write of a plugin's route is
   * charged to the caller of the route.
   */
  readonly chargedTo?: Subject;
  /**
   * For a write that is charged to a visitor: the visitor's address. The rate limits are those of the network of the
   * address. If undefined, the address in `cause` is used.
   */
  readonly chargedFrom?: string;
  /**
   * Marks a write of one of the writer's own tokens or sessions, or of the writer's profile. Stricter rate limits apply
   * to such writes in addition to the general limits.
   */
  readonly isOwn?: true;
  /**
   * The limits that do not apply to this write. `counted`: the write is already counted, so only its bytes are limited.
   * `whole`: the write is one of a series that must complete, so no rate limit refuses it, but its bytes are charged.
   */
  readonly admitted?: 'counted' | 'whole';
  /**
   * Marks a write of an object from an installed plugin's files. The files limit the number of such objects, so the
   * write may use the disk reserve.
   */
  readonly isShipped?: true;
  /**
   * Returns a signal that aborts when the client disconnects. The function is called only if the write queues for
   * expensive work.
   */
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
      /** False if nothing was appended, because the write changes nothing or is a dry run. */
      readonly appended: boolean;
      /** Texts for `Warning: 299` headers. */
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly rejection: Rejection };
