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
  /** `object` is the body. apiVersion and kind may be absent; server-managed metadata is replaced (decision 1.4). */
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
  /** Changes nothing. Refused if the log contains no such object. */
  | { readonly type: 'find'; readonly name: string }
  /** Sent by the collector. Removes the object with this uid, which must be marked and have no finalizers. */
  | { readonly type: 'collect'; readonly name: string; readonly uid: string }
  /**
   * Sent by the platform. Appends the object with this uid and version again at the next revision. The declaration in
   * force decides, so the values of the object are claimed.
   */
  | { readonly type: 'fence'; readonly name: string; readonly uid: string; readonly version: number };

/**
 * The part of an object that a write changes. `main` ignores the status if the type has a status subresource; `status`
 * ignores all other members.
 */
export type Part = 'main' | 'status';

export type Patch =
  /** RFC 6902. resource/patch.ts decodes the operations. */
  | { readonly kind: 'json'; readonly operations: readonly JsonValue[] }
  /** RFC 7396. */
  | { readonly kind: 'merge'; readonly document: JsonValue };

/** Preconditions in addition to those in the body (metadata.version, resourceVersion and uid; decisions 2.2, 1.4). */
export type Preconditions = {
  /**
   * `If-Match`: the current version must be one of these versions; `any` requires only that the object exists. Refused
   * with 412 otherwise.
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
  /** The handling of unknown fields. If undefined, the schema decides (decision 1.9). */
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore' | undefined;
  /** The origin of the write. Reserved label keys are refused for `plugin` (decision 1.8). */
  readonly origin: 'client' | 'plugin' | 'platform';
  /**
   * The subject whose rate limits apply to the write; `subject` when undefined. A write of a plugin's route is charged
   * to the caller of the route.
   */
  readonly chargedTo?: Subject;
  /**
   * An address in the network whose rate limits apply to a visitor's write; the address of the cause when undefined.
   */
  readonly chargedFrom?: string;
  /** Marks a write of the writer's own tokens, sessions or profile, for which stricter limits apply too. */
  readonly isOwn?: true;
  /**
   * The rate limits that the request has already passed. `counted`: the limit of writes has counted this write.
   * `whole`: the write is one of a series; it is counted but never refused, so that the series completes.
   */
  readonly admitted?: 'counted' | 'whole';
  /**
   * Marks a write of an object from an installed plugin's files. The files limit the number of such objects, so the
   * write may use the disk reserve.
   */
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
      /** False for a no-op and a dry run: nothing was appended. */
      readonly appended: boolean;
      /** Texts for `Warning: 299` headers. */
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly rejection: Rejection };
