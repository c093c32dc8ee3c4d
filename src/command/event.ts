import type { Declaration } from '../resource/type/declaration.ts';
import type { HeldValue } from '../resource/type/held-values.ts';
import type { ResourceObject } from '../resource/object/object.ts';

/**
 * Events: facts, in the past tense. An object event contains the whole object after the change, so watch frames,
 * history and rebuilds need no other read. `values` are all unique values that the object holds then, so claims are
 * checked by events alone, without plugin code (consistency protocol, 1).
 */

export type ObjectEvent =
  | { readonly type: 'ObjectCreated'; readonly object: ResourceObject; readonly values: readonly HeldValue[] }
  | { readonly type: 'ObjectUpdated'; readonly object: ResourceObject; readonly values: readonly HeldValue[] }
  | { readonly type: 'ObjectDeletionRequested'; readonly object: ResourceObject; readonly values: readonly HeldValue[] }
  /** `object` is the last state; the object holds no values any more. */
  | { readonly type: 'ObjectDeleted'; readonly object: ResourceObject; readonly values: readonly [] }
  /**
   * Takes a revision, so that a pending append at that revision is refused. `object` is absent for a name without an
   * object.
   */
  | { readonly type: 'NameFenced'; readonly object?: ResourceObject; readonly values: readonly HeldValue[] };

export type ClaimEvent =
  /**
   * `holder` is an object stream; `through` is the highest expected revision of any attempt under this claim (-1:
   * absent).
   */
  | { readonly type: 'ValueClaimed'; readonly holder: string; readonly through: number }
  | { readonly type: 'ValueReleased'; readonly holder: string; readonly through: number };

export type SecretEvent =
  /** `hash` is a PHC string (`$scrypt$…`). It is valid once an event of the user names its revision. */
  | { readonly type: 'PasswordSet'; readonly hash: string }
  /** `digest` is the SHA-256 of the token's text, in hex; the text itself is never stored. */
  | { readonly type: 'TokenIssued'; readonly digest: string };

/**
 * Events of the log itself, in the stream `platform:log`. The first is its founding; the last EpochStarted is in force.
 */
export type PlatformEvent =
  /**
   * Positions after this event may also occur in other copies of this log, or in this log before a restore. So a
   * position is valid within its epoch only (consistency protocol, 5). `domain` is the platform's; a log belongs to one
   * platform.
   */
  | {
      readonly type: 'EpochStarted';
      readonly logId: string;
      readonly domain: string;
      readonly epoch: number;
      readonly reason: 'founded' | 'copied' | 'restored';
      readonly copyOf?: { readonly logId: string; readonly epoch: number };
      /**
       * In a copy of a log: the id of the source's tree, which this log continues. Without this member, the event
       * begins a tree.
       */
      readonly tree?: string;
      /** After a restore: the tree of the epoch before, as this log still has it. */
      readonly before?: { readonly tree: string } & TreeSize;
    }
  /**
   * The copy that started this epoch is complete and equals its source, and so does its tree. Before this event no
   * server may use it.
   */
  | { readonly type: 'CopyFinished'; readonly events: number; readonly tree?: TreeSize };

/** A Merkle tree over the log's first `size` leaves; `root` in base64 (docs/spec/tree.md). */
export type TreeSize = { readonly size: number; readonly root: string };

/**
 * An event of the stream `platform:tree`: the tree that a leader has signed. A node with another root at this size
 * stops. `checkpoint` is the signed note of the same size and root. It proves to a reader of a part of the log that the
 * part is unchanged up to this size.
 */
export type TreeEvent = { readonly type: 'TreeHead'; readonly checkpoint: string } & TreeSize;

/**
 * Public keys of nodes, in the stream `platform:keys`. `key` and `by` are raw Ed25519 keys in base64; `note` is a
 * signed note that names `key` (docs/spec/tree.md).
 */
export type KeyEvent =
  /**
   * A node offers its public key. The signature in `note` proves that the node has the private key. A node with a
   * trusted key may then sign the offered key.
   */
  | { readonly type: 'KeyOffered'; readonly key: string; readonly note: string }
  /**
   * After this event, `key` is trusted as much as `by`. If `by` is the key itself, the event begins a chain of keys.
   */
  | { readonly type: 'KeySigned'; readonly key: string; readonly by: string; readonly note: string };

/** Leadership, in streams `lease:<name>` (consistency protocol, 6). The last event is in force. */
export type LeaseEvent =
  /** Each renewal is a new event. A lease expires when its stream does not grow for `leaseMs`. */
  | { readonly type: 'LeaseHeld'; readonly holder: string; readonly leaseMs: number }
  | { readonly type: 'LeaseReleased'; readonly holder: string };

/**
 * An event of the stream `platform:level`: after this event, events of the level may be written. A node that cannot
 * read the level stops here, and so does a version without levels (consistency protocol, 7).
 */
export type LevelEvent = { readonly type: 'LevelRaised'; readonly level: number };

/**
 * In `lease:node/<id>`, repeated while a node runs. `reads`: the level that the node reads. `drained`: a position
 * (decimal) of a declaration; no append of the node that an earlier declaration decided is pending (consistency
 * protocol, 1).
 */
export type NodeEvent =
  | { readonly type: 'NodeSeen'; readonly reads: number; readonly beatMs: number; readonly drained?: string }
  | { readonly type: 'NodeLeft' };

export type PackageEvent =
  /**
   * One chunk of an uploaded plugin package, in the stream `package:<SHA-256 of the whole>`: event `index` of `count`,
   * `data` in base64. No read model folds it; a node reads it to unpack the package.
   */
  { readonly type: 'PackageChunk'; readonly index: number; readonly count: number; readonly data: string };

/**
 * The declaration of a type, in the stream `type:<plural>.<group>`. The last event is in force: a node with another
 * declaration writes no object of the type (consistency protocol, 7).
 */
export type DeclarationEvent = { readonly type: 'TypeDeclared' } & Declaration;

/**
 * In the stream `unique:<plural>.<group>`: every value of these indexes that an object holds has a claim. It is based
 * on the type's declaration at the revision `declared`, and on `late` later events that an older declaration decided.
 * It has no effect if the log has another declaration, or more such events, before it.
 */
export type UniquenessEvent = {
  readonly type: 'UniqueEnforced';
  readonly declared: number;
  readonly late: number;
  readonly indexes: readonly string[];
};

/** `login-failed`: by a user name and a password; `unauthorized` (401) and `forbidden` (403): requests. */
export type AccessKind = 'login' | 'logout' | 'login-failed' | 'unauthorized' | 'forbidden';

/**
 * The description of one access. Times are RFC 3339. A name without a user is left out, since it may be a password in
 * the wrong field.
 */
export type AccessEntry = {
  readonly time: string;
  readonly kind: AccessKind;
  readonly requestId: string;
  readonly address?: string;
  readonly user?: string;
  readonly isUnknownUser?: true;
  readonly token?: string;
  /** The verb and path of a forbidden request, without its query. */
  readonly verb?: string;
  readonly path?: string;
};

/**
 * Log-ins, log-outs and refusals between two times, in the stream `access:<node>`, which one process writes. `counts`
 * is exact, by kind; `entries` describes a limited number. No read model folds it.
 */
export type AccessEvent = {
  readonly type: 'AccessRecorded';
  readonly from: string;
  readonly until: string;
  readonly counts: Readonly<Partial<Record<AccessKind, number>>>;
  readonly entries: readonly AccessEntry[];
};

export type DomainEvent =
  | TreeEvent
  | KeyEvent
  | AccessEvent
  | UniquenessEvent
  | ObjectEvent
  | ClaimEvent
  | SecretEvent
  | PlatformEvent
  | LeaseEvent
  | PackageEvent
  | DeclarationEvent
  | LevelEvent
  | NodeEvent;

/** The actor and the request that caused an event (decision 10.1). `actor` is the first member: the codec finds it. */
export type Cause = {
  /** The subject with the rights of the write: a user, `plugin:<name>`, or `system:<part>` of the platform. */
  readonly actor: string;
  /** The user of the request for which a plugin made the write with its own rights. */
  readonly onBehalfOf?: string;
  /** The name of the personal access token of the request. */
  readonly token?: string;
  readonly verb: string;
  readonly requestId: string;
  /** The client's address; absent for the platform's own writes. */
  readonly address?: string;
  readonly userAgent?: string;
  /** W3C Trace Context `traceparent`. */
  readonly traceParent?: string;
  /** The plugin that made the write, if any. */
  readonly plugin?: string;
};

/** An event that led to further ones: a reconciler's step runs because of it. */
export type CausingEvent = {
  readonly id: string;
  /** The id of the request at the beginning of the chain, which all events of the chain repeat. */
  readonly correlationId: string;
};

export type EventMetadata = Cause & {
  /** The time of the event (RFC 3339, UTC, milliseconds): now, or the last folded event's time if that is later. */
  readonly time: string;
  /** The version of the event's shape; event-codec.ts upcasts older ones. */
  readonly schema: number;
  /** The id of the request that caused this event, directly or through the steps of reconcilers. */
  readonly $correlationId: string;
  /** The id of the event that caused this event; absent if a request or a step without a cause wrote it. */
  readonly $causationId?: string;
  /** For an object event: the revision of the type declaration that the decision used; absent when none was known. */
  readonly declared?: number;
};

/** The event schema that this version writes. */
export const eventSchema = 1;
