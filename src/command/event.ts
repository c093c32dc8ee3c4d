import type { Declaration } from '../resource/type/declaration.ts';
import type { HeldReference } from '../resource/references/named-targets.ts';
import type { HeldValue } from '../resource/type/held-values.ts';
import type { ResourceObject } from '../resource/object/object.ts';

/**
 * An object event contains the whole object after the change, so watches, history and rebuilds need no further reads.
 * `values` contains the object's unique values, so claims are checked without plugin code (docs/spec/consistency.md,
 * 1).
 */

export type ObjectEvent =
  | ({ readonly type: 'ObjectCreated' } & Contents)
  | ({ readonly type: 'ObjectUpdated' } & Contents)
  | ({ readonly type: 'ObjectDeletionRequested' } & Contents)
  /** `object` is the last state of the object. */
  | { readonly type: 'ObjectDeleted'; readonly object: ResourceObject; readonly values: readonly [] }
  /**
   * A fence: takes a revision, so that the log refuses a pending append at the revision. `object` is absent for a name
   * without an object.
   */
  | ({ readonly type: 'NameFenced' } & Partial<Contents> & Pick<Contents, 'values'>);

type Contents = {
  readonly object: ResourceObject;
  readonly values: readonly HeldValue[];
  /** All references of the object after the change; absent without references. */
  readonly refs?: readonly HeldReference[];
};

export type ClaimEvent =
  /**
   * `holder` is the stream of the object with the claim. The claim covers appends to this stream with an expected
   * revision of at most `through`; -1 stands for an absent stream.
   */
  | { readonly type: 'ValueClaimed'; readonly holder: string; readonly through: number }
  | { readonly type: 'ValueReleased'; readonly holder: string; readonly through: number };

/**
 * Intents announce writes that could break strict references (docs/spec/consistency.md, 9). `through` is the highest
 * expected revision of all announced appends in the stream; -1 stands for an absent object. The appends are pending
 * until the object has a revision above `through`.
 */
export type IntentEvent =
  /** In `ref:<type>/<name>`: a write of the object will refer to the objects `targets` (`<type>/<name>`). */
  | { readonly type: 'ReferencesIntended'; readonly targets: readonly string[]; readonly through: number }
  /** In `closing:<type>/<name>`: the object will be deleted. */
  | { readonly type: 'DeletionIntended'; readonly through: number }
  /** The intent at `revision` of this stream has ended without an append. */
  | { readonly type: 'IntentWithdrawn'; readonly revision: number; readonly through: number };

export type SecretEvent =
  /**
   * `hash` is a PHC string (`$scrypt$…`). The hash becomes valid when an event of the user contains this event's
   * revision.
   */
  | { readonly type: 'PasswordSet'; readonly hash: string }
  /** `digest` is the SHA-256 of the token's text, in hex. The text is never stored. */
  | { readonly type: 'TokenIssued'; readonly digest: string };

/** Events about the log, in the stream `platform:log`. The last `EpochStarted` is in force. */
export type PlatformEvent =
  /**
   * Begins an epoch. Copies and restores may reuse positions, so a position is valid only within its epoch
   * (docs/spec/consistency.md, 5). `domain` is the domain of the log's platform.
   */
  | {
      readonly type: 'EpochStarted';
      readonly logId: string;
      readonly domain: string;
      readonly epoch: number;
      readonly reason: 'founded' | 'copied' | 'restored';
      readonly copyOf?: { readonly logId: string; readonly epoch: number };
      /**
       * In a copy: the id of the source's Merkle tree, which the copy continues. If absent, the event begins a new
       * tree.
       */
      readonly tree?: string;
      /** The part of the previous epoch's tree that the log contains after a restore. */
      readonly before?: { readonly tree: string } & TreeSize;
    }
  /** The copy that started this epoch is complete and equals its source. No server may use an incomplete copy. */
  | { readonly type: 'CopyFinished'; readonly events: number; readonly tree?: TreeSize };

/** A Merkle tree over the first `size` leaves of the log. `root` is base64 (docs/spec/tree.md). */
export type TreeSize = {
  readonly size: number;
  readonly root: string;
};

/**
 * The size and root of a tree that a leader has signed, in the stream `platform:tree`. A node stops if its own tree has
 * another root at this size. `checkpoint` is the signed note of the size and root.
 */
export type TreeEvent = {
  readonly type: 'TreeHead';
  readonly checkpoint: string;
} & TreeSize;

/**
 * Public keys of nodes, in the stream `platform:keys`. `key` and `by` are raw Ed25519 keys in base64; `note` is a
 * signed note that contains `key` (docs/spec/tree.md).
 */
export type KeyEvent =
  /** A node offers its public key. The signature in `note` proves that the node has the private key. */
  | { readonly type: 'KeyOffered'; readonly key: string; readonly note: string }
  /** `key` is trusted like `by`. If `by` equals `key`, the event begins a chain of keys. */
  | { readonly type: 'KeySigned'; readonly key: string; readonly by: string; readonly note: string };

/** Leadership, in streams `lease:<name>` (docs/spec/consistency.md, 6). The last event is in force. */
export type LeaseEvent =
  /** Each renewal is a new event. A lease expires if its stream gets no event for `leaseMs`. */
  | { readonly type: 'LeaseHeld'; readonly holder: string; readonly leaseMs: number }
  | { readonly type: 'LeaseReleased'; readonly holder: string };

/**
 * Raises the level, in the stream `platform:level`. Nodes may then write events of the level. A node that cannot read
 * the level stops at this event (docs/spec/consistency.md, 7).
 */
export type LevelEvent = {
  readonly type: 'LevelRaised';
  readonly level: number;
};

/**
 * Events in the stream `lease:node/<id>`. A running node repeats `NodeSeen` every `beatMs`. `reads` is the highest
 * level that the node can read. `drained` is a position as a decimal number. Up to this position, the node has no
 * pending append that a replaced declaration decided (docs/spec/consistency.md, 1).
 * `host`, `version`, `since` and `position` describe the node to operators.
 */
export type NodeEvent =
  | {
      readonly type: 'NodeSeen';
      readonly reads: number;
      readonly beatMs: number;
      readonly drained?: string;
      readonly host?: string;
      readonly version?: string;
      readonly since?: string;
      readonly position?: string;
    }
  | { readonly type: 'NodeLeft' };

export type PackageEvent =
  /**
   * One chunk of a plugin package, in the stream `package:<SHA-256 of the package>`. `index` begins with 0, `count` is
   * the number of all chunks, and `data` is base64.
   */
  {
    readonly type: 'PackageChunk';
    readonly index: number;
    readonly count: number;
    readonly data: string;
  };

/**
 * The declaration of a type, in the stream `type:<plural>.<group>`. The last event is in force. A node with another
 * declaration writes no objects of the type (docs/spec/consistency.md, 7).
 */
export type DeclarationEvent = { readonly type: 'TypeDeclared' } & Declaration;

/**
 * In the stream `unique:<plural>.<group>`: each value of an object in `indexes` has a claim, under the declaration at
 * revision `declared` of the type's stream. `late` is the number of later events that an older declaration had decided.
 * The event has no effect if another declaration is in force at its position, or if the number has changed.
 */
export type UniquenessEvent = {
  readonly type: 'UniqueEnforced';
  readonly declared: number;
  readonly late: number;
  readonly indexes: readonly string[];
};

/**
 * `login-failed` is a failed log-in with a user name and a password. `unauthorized` (401) and `forbidden` (403) are
 * refused requests.
 */
export type AccessKind = 'login' | 'logout' | 'login-failed' | 'unauthorized' | 'forbidden';

/**
 * One access. `time` is as in RFC 3339. The name of an unknown user is omitted, because the name may be a mistyped
 * password.
 */
export type AccessEntry = {
  readonly time: string;
  readonly kind: AccessKind;
  readonly requestId: string;
  readonly address?: string;
  readonly user?: string;
  readonly isUnknownUser?: true;
  readonly token?: string;
  /** The verb and the path, without query, of a forbidden request. */
  readonly verb?: string;
  readonly path?: string;
};

/**
 * Log-ins, log-outs and refusals between two times, in the stream `access:<node>`. `counts` has the exact numbers by
 * kind; `entries` describes a limited number of accesses.
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
  | IntentEvent
  | SecretEvent
  | PlatformEvent
  | LeaseEvent
  | PackageEvent
  | DeclarationEvent
  | LevelEvent
  | NodeEvent;

/**
 * The actor and the request that caused an event (decision 10.1). `actor` must be the first member, because the codec
 * relies on this order.
 */
export type Cause = {
  /**
   * The subject with the rights of the write: a user, `plugin:<name>`, `system:<part>` for a part of the platform, or
   * `system:anonymous` for a visitor.
   */
  readonly actor: string;
  /** The user of a request in which a plugin wrote with its own rights. */
  readonly onBehalfOf?: string;
  /** The name of the personal access token of the request. */
  readonly token?: string;
  readonly verb: string;
  readonly requestId: string;
  /** The client's address. Absent if unknown, and for writes outside of a request. */
  readonly address?: string;
  readonly userAgent?: string;
  /** W3C Trace Context `traceparent`. */
  readonly traceParent?: string;
  readonly plugin?: string;
  /** The position of the restored state, for a restore. */
  readonly restoredFrom?: string;
};

/** An event that caused further events through a step of a reconciler. */
export type CausingEvent = {
  readonly id: string;
  /** The id of the request at the beginning of the chain of events. */
  readonly correlationId: string;
};

export type EventMetadata = Cause & {
  /**
   * The time of the write (RFC 3339, UTC, milliseconds), or the time of the last folded event if that time is later.
   */
  readonly time: string;
  readonly schema: number;
  /** The id of the request that caused the event, directly or through steps of reconcilers. */
  readonly $correlationId: string;
  /** The id of the event that caused this event. Absent for an event of a request, or of a step without a cause. */
  readonly $causationId?: string;
  /**
   * The revision of the type declaration by which an object event was decided. Absent if the log had no declaration.
   */
  readonly declared?: number;
};

/** The version of the event schema that this server writes. */
export const eventSchema = 1;
