import type { JsonObject, JsonValue } from '../resource/object/object.ts';
import type { Cause } from './event.ts';
import type { Propagation } from './propagation.ts';
import type { Rejection } from './rejection.ts';
import type { Subject } from './subject.ts';

/**
 * What somebody wants of one object. Everything a decision depends on comes in here or in the state: time, uid and drawn
 * names are parameters, so deciding is pure.
 */
export type Command =
  /** `object` is the body: apiVersion, kind and server-managed metadata may be missing or are replaced (decision 1.4). */
  | { readonly type: 'create'; readonly object: JsonObject }
  /** PUT: the whole object, or (part `status`) its status alone. */
  | { readonly type: 'replace'; readonly name: string; readonly object: JsonObject; readonly part: Part; readonly preconditions: Preconditions }
  | { readonly type: 'patch'; readonly name: string; readonly patch: Patch; readonly part: Part; readonly preconditions: Preconditions }
  /** Marks the object for deletion, and removes it if nothing holds it. Without `propagation` its own finalizers say what becomes of its dependents. */
  | { readonly type: 'delete'; readonly name: string; readonly preconditions: Preconditions; readonly propagation?: Propagation | undefined }
  /** The collector's: removes a marked object without finalizers whose uid is still this. */
  | { readonly type: 'collect'; readonly name: string; readonly uid: string }
  /** The platform's: repeats the object of that uid and version one revision on, under the present declaration, which claims its values. */
  | { readonly type: 'fence'; readonly name: string; readonly uid: string; readonly version: number };

/** `main` leaves status alone where the type has a status subresource; `status` leaves all else alone. */
export type Part = 'main' | 'status';

export type Patch =
  /** RFC 6902. Operations are decoded by resource/patch.ts. */
  | { readonly kind: 'json'; readonly operations: readonly JsonValue[] }
  /** RFC 7396. */
  | { readonly kind: 'merge'; readonly document: JsonValue };

/** Beyond what the body itself carries (metadata.version, resourceVersion, uid: decisions 2.2, 1.4). */
export type Preconditions = {
  /** `If-Match`: the current version must be one of these; `any` needs only existence. 412 otherwise. */
  readonly ifMatch?: readonly number[] | 'any';
  /** DeleteOptions.preconditions: 409 otherwise. */
  readonly uid?: string;
  readonly resourceVersion?: string;
};

/** Who asks and how it is to be done: beside the command, the same for every kind of it. */
export type WriteContext = {
  /** In whose name it is done: judged by what they hold, whoever carries it out. */
  readonly subject: Subject;
  readonly cause: Cause;
  /** `dryRun=All`: everything is checked, nothing is appended. */
  readonly dryRun: boolean;
  /** Unknown fields: refused by the schema's own rule when undefined (decision 1.9). */
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore' | undefined;
  /** `plugin`: reserved label keys are refused (decision 1.8). */
  readonly origin: 'client' | 'plugin' | 'platform';
  /** Whose limits it counts against; the subject's when undefined. A route of a plugin writes for its caller. */
  readonly chargedTo?: Subject;
  /** Of the writer's own tokens, sessions or profile: their stricter limits count as well. */
  readonly isOwn?: true;
  /** What its request has paid already. `counted`: one write; `whole`: it pays and is not refused, so that nothing stays half done. */
  readonly admitted?: 'counted' | 'whole';
  /** It comes with the files of an installed plugin: their number bounds it, so the disk's reserve is open to it. */
  readonly isShipped?: true;
  /** Aborts once the client has gone. It is asked only where a write waits for its turn to cost much. */
  readonly gone?: () => AbortSignal;
};

export type WriteOutcome =
  | {
    readonly ok: true;
    /** The answer's JSON. */
    readonly bytes: Uint8Array;
    /** `metadata.version` of the answer. */
    readonly version: number;
    readonly name: string;
    /** False for a no-op and a dry run: nothing was appended. */
    readonly appended: boolean;
    /** Texts for `Warning: 299` headers. */
    readonly warnings: readonly string[];
  }
  | { readonly ok: false; readonly rejection: Rejection };
