import type { JsonObject, JsonValue, ResourceObject } from '../resource/object/object.ts';
import type { Cause, CausingEvent } from './event.ts';
import type { Propagation } from './propagation.ts';
import type { Rejection } from './rejection.ts';
import type { Subject } from './subject.ts';

/**
 * A requested change of one object. A decision depends only on the command, the state and the facts: time, uid and
 * random names are parameters, so deciding is pure.
 */
export type Command =
  /** `object` is the body: apiVersion and kind may be absent; server-managed metadata is replaced (decision 1.4). */
  | { readonly type: 'create'; readonly object: JsonObject }
  /** PUT: the whole object, or (part `status`) only its status. For the part `scale`, `object` is a Scale. */
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
      /** For the part `scale`: a patch of the object's Scale. */
      readonly patch: Patch;
      readonly part: Part | 'scale';
      readonly preconditions: Preconditions;
    }
  /**
   * Marks the object for deletion, and removes it if it has no finalizers. Without `propagation`, the object's own
   * finalizers decide about its dependents.
   */
  | {
      readonly type: 'delete';
      readonly name: string;
      readonly preconditions: Preconditions;
      readonly propagation?: Propagation | undefined;
    }
  /** Writes the labels, annotations and members of an earlier state of the name. */
  | {
      readonly type: 'restore';
      readonly name: string;
      readonly past: ResourceObject;
      readonly preconditions: Preconditions;
    }
  /** Changes nothing: refused when the log holds no such object. */
  | { readonly type: 'find'; readonly name: string }
  /** Sent by the collector: removes a marked object without finalizers that still has this uid. */
  | { readonly type: 'collect'; readonly name: string; readonly uid: string }
  /**
   * Sent by the platform: repeats the object with this uid and version at the next revision, decided by the present
   * declaration, so that its values are claimed.
   */
  | { readonly type: 'fence'; readonly name: string; readonly uid: string; readonly version: number };

/** `main` ignores status where the type has a status subresource; `status` ignores everything else. */
export type Part = 'main' | 'status';

export type Patch =
  /** RFC 6902. resource/patch.ts decodes the operations. */
  | { readonly kind: 'json'; readonly operations: readonly JsonValue[] }
  /** RFC 7396. */
  | { readonly kind: 'merge'; readonly document: JsonValue };

/** Preconditions beside those in the body (metadata.version, resourceVersion, uid: decisions 2.2, 1.4). */
export type Preconditions = {
  /** `If-Match`: the current version must be one of these; `any` requires only existence. 412 otherwise. */
  readonly ifMatch?: readonly number[] | 'any';
  /** DeleteOptions.preconditions: refused with 409 unless they hold. */
  readonly uid?: string;
  readonly resourceVersion?: string;
};

/** The caller and the options of a write, the same for every kind of command. */
export type WriteContext = {
  /** The author of the write: the author's rights decide, even if another part performs the write. */
  readonly subject: Subject;
  readonly cause: Cause;
  /** The event that caused the writing step of a reconciler; absent for a request, and for a step without a cause. */
  readonly causedBy?: CausingEvent | undefined;
  /** `dryRun=All`: checks everything and appends nothing. */
  readonly dryRun: boolean;
  /** Handling of unknown fields; when undefined, the schema decides (decision 1.9). */
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore' | undefined;
  /** `plugin`: reserved label keys are refused (decision 1.8). */
  readonly origin: 'client' | 'plugin' | 'platform';
  /**
   * The subject that is charged for the write by rate limits; `subject` when undefined. A plugin's route writes for its
   * caller.
   */
  readonly chargedTo?: Subject;
  /** The address of the network that is charged for a visitor's write; the address of the cause when undefined. */
  readonly chargedFrom?: string;
  /** Marks a write of the writer's own tokens, sessions or profile, for which stricter limits apply too. */
  readonly isOwn?: true;
  /**
   * Rate limiting that the request has already passed. `counted`: one write. `whole`: a write of a series, which counts
   * but is never refused, so that the series completes.
   */
  readonly admitted?: 'counted' | 'whole';
  /**
   * Marks an object from an installed plugin's files. The files limit the number of such objects, so these may use the
   * disk reserve.
   */
  readonly isShipped?: true;
  /** Aborts when the client disconnects. Called only where a write queues for expensive work. */
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
