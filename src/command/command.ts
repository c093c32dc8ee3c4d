import type { JsonObject, JsonValue, ResourceObject } from '../resource/object/object.ts';
import type { Cause, CausingEvent } from './event.ts';
import type { Propagation } from './propagation.ts';
import type { Rejection } from './rejection.ts';
import type { Subject } from './subject.ts';

/**
 * A requested change of one object. A decision depends only on the command, the state and the facts. Time, uid and
 * random names are parameters, so a decision is pure.
 */
export type Command =
  /**
   * `object` is the body of the request. apiVersion and kind may be absent; metadata that the server manages is
   * replaced (decision 1.4).
   */
  | { readonly type: 'create'; readonly object: JsonObject }
  /**
   * PUT. For the part `main`, `object` replaces the whole object; for `status`, only the status. For the part `scale`,
   * `object` is a Scale.
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
  /** Writes the labels, annotations and members of an earlier object with this name. */
  | {
      readonly type: 'restore';
      readonly name: string;
      readonly past: ResourceObject;
      readonly preconditions: Preconditions;
    }
  /** Changes nothing. The command is refused if the log contains no such object. */
  | { readonly type: 'find'; readonly name: string }
  /** Sent by garbage collection. Removes the object with this uid, which must be marked and have no finalizers. */
  | { readonly type: 'collect'; readonly name: string; readonly uid: string }
  /**
   * Sent by the platform. Appends the object again at the next revision, if the object has this uid and version. The
   * event is decided by the declaration in force, so the object's values in all indexes that are unique now are
   * claimed.
   */
  | { readonly type: 'fence'; readonly name: string; readonly uid: string; readonly version: number };

/**
 * The part of an object that a write changes. `main` ignores the status if the type has a status subresource; `status`
 * ignores all other members.
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
   * `If-Match`: the current version must be one of these versions; `any` requires only that the object exists.
   * Otherwise the write is refused with 412.
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
  /** The event that caused the writing step of a reconciler; absent for a request, and for a step without a cause. */
  readonly causedBy?: CausingEvent | undefined;
  /** `dryRun=All`: the write is checked, but nothing is appended. */
  readonly dryRun: boolean;
  /**
   * The handling of unknown fields. If undefined, the schema decides whether unknown fields are refused (decision 1.9).
   */
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore' | undefined;
  /** The author of the write. Reserved label keys are refused for `plugin` (decision 1.8). */
  readonly origin: 'client' | 'plugin' | 'platform';
  /**
   * The rate limits of this subject apply to the write; if undefined, those of `subject`. A write of a plugin's route
   * is charged to the caller of the route.
   */
  readonly chargedTo?: Subject;
  /**
   * The address of the visitor to which the write is charged: the rate limits of the visitor's network apply. If
   * undefined, the address in `cause` is used.
   */
  readonly chargedFrom?: string;
  /**
   * Marks a write of one of the writer's own tokens or sessions, or of the writer's profile. Stricter rate limits apply
   * to such writes in addition to the general limits.
   */
  readonly isOwn?: true;
  /**
   * The limits that do not apply to this write. `counted`: the write is already counted, so only its bytes are limited.
   * `whole`: the write is one of a series that must complete, so it is not refused; only its bytes are charged.
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
