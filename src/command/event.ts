import type { Declaration } from '../resource/type/declaration.ts';
import type { HeldReference } from '../resource/references/named-targets.ts';
import type { HeldValue } from '../resource/type/held-values.ts';
import type { ResourceObject } from '../resource/object/object.ts';

/**
 * Events are facts and have names in the past tense. An object event contains the whole object after the change, so
 * watches, history and rebuilds need no further reads. `values` contains the unique values of the object after the
 * change, so claims are checked with events only, without plugin code (consistency protocol, 1).
 */

export type ObjectEvent =
  | ({ readonly type: 'ObjectCreated' } & Contents)
  | ({ readonly type: 'ObjectUpdated' } & Contents)
  | ({ readonly type: 'ObjectDeletionRequested' } & Contents)
  /** `object` is the last state of the object. A deleted object holds no unique values and no references. */
  | { readonly type: 'ObjectDeleted'; readonly object: ResourceObject; readonly values: readonly [] }
  /**
   * A fence. It takes a revision, so that the log refuses a pending append at this revision. `object` is absent for a
   * name without an object.
   */
  | ({ readonly type: 'NameFenced' } & Partial<Contents> & Pick<Contents, 'values'>);

type Contents = {
  readonly object: ResourceObject;
  readonly values: readonly HeldValue[];
  /** All references of the object after the change; absent if there are none. */
  readonly refs?: readonly HeldReference[];
};

export type ClaimEvent =
  /**
   * `holder` is the stream of the object with the claim. Under the claim, appends to this stream have at most `through`
   * as their expected revision. An append that expects no stream has the expected revision -1.
   */
  | { readonly type: 'ValueClaimed'; readonly holder: string; readonly through: number }
  | { readonly type: 'ValueReleased'; readonly holder: string; readonly through: number };

/**
 * Intents, which announce writes that could break strict references (consistency protocol, 9). `through` is the highest
 * expected revision of all appends that this intent and earlier intents in the stream announced. An append that expects
 * no object has the expected revision -1. The announced appends are pending until the object has a revision above
 * `through`.
 */
export type IntentEvent =
  /** In `ref:<type>/<name>`: a write of this object will name the objects `targets` (`<type>/<name>`). */
  | { readonly type: 'ReferencesIntended'; readonly targets: readonly string[]; readonly through: number }
  /** In `closing:<type>/<name>`: this object will be deleted. */
  | { readonly type: 'DeletionIntended'; readonly through: number }
  /** The intent at the revision `revision` of this stream has ended without an append. */
  | { readonly type: 'IntentWithdrawn'; readonly revision: number; readonly through: number };

export type SecretEvent =
  /**
   * `hash` is a PHC string (`$scrypt$…`). The hash is valid as soon as an event of the user contains the revision of
   * this event.
   */
  | { readonly type: 'PasswordSet'; readonly hash: string }
  /** `digest` is the SHA-256 of the token's text, in hex. The text is never stored. */
  | { readonly type: 'TokenIssued'; readonly digest: string };

/**
 * Events about the log, in the stream `platform:log`. The first event is the founding. The last `EpochStarted` is in
 * force.
 */
export type PlatformEvent =
  /**
   * Begins an epoch. Positions after this event may also exist in other copies of this log, or in this log before a
   * restore, so a position is valid only within its epoch (consistency protocol, 5). `domain` is the domain of the
   * platform; a log belongs to one platform.
   */
  | {
      readonly type: 'EpochStarted';
      readonly logId: string;
      readonly domain: string;
      readonly epoch: number;
      readonly reason: 'founded' | 'copied' | 'restored';
      readonly copyOf?: { readonly logId: string; readonly epoch: number };
      /**
       * In a copy of a log: the id of the source's Merkle tree, which this log continues. If absent, the event begins a
       * new tree.
       */
      readonly tree?: string;
      /** After a restore: the part of the previous epoch's tree that this log contains. */
      readonly before?: { readonly tree: string } & TreeSize;
    }
  /**
   * The copy that started this epoch is complete: its events and its tree equal those of the source. Before this event,
   * no server may use the copy.
   */
  | { readonly type: 'CopyFinished'; readonly events: number; readonly tree?: TreeSize };

/** A Merkle tree over the first `size` leaves of the log. `root` is base64 (docs/spec/tree.md). */
export type TreeSize = {
  readonly size: number;
  readonly root: string;
};

/**
 * An event of the stream `platform:tree`: size and root of a tree that a leader has signed. A node stops if its own
 * tree has another root at this size. `checkpoint` is the signed note of this size and root. The checkpoint proves to a
 * reader of a part of the log that the part is unchanged up to this size.
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
  /**
   * A node offers its public key. The signature in `note` proves that the node has the private key. A node with a
   * trusted key may then sign the offered key.
   */
  | { readonly type: 'KeyOffered'; readonly key: string; readonly note: string }
  /** After this event, `key` is trusted like `by`. If `by` equals `key`, the event begins a chain of keys. */
  | { readonly type: 'KeySigned'; readonly key: string; readonly by: string; readonly note: string };

/** Leadership, in streams `lease:<name>` (consistency protocol, 6). The last event is in force. */
export type LeaseEvent =
  /** Each renewal is a new event. A lease expires if its stream gets no event for `leaseMs`. */
  | { readonly type: 'LeaseHeld'; readonly holder: string; readonly leaseMs: number }
  | { readonly type: 'LeaseReleased'; readonly holder: string };

/**
 * An event of the stream `platform:level`. After this event, nodes may write events of the level. A node that cannot
 * read the level, or that knows no levels, stops at this event (consistency protocol, 7).
 */
export type LevelEvent = {
  readonly type: 'LevelRaised';
  readonly level: number;
};

/**
 * Events in the stream `lease:node/<id>`. `NodeSeen` is repeated every `beatMs` while a node runs. `reads`: the highest
 * level that the node can read. `drained`: a position, as a decimal number. No pending append of the node was decided
 * by a declaration that was replaced at or before this position (consistency protocol, 1).
 */
export type NodeEvent =
  | { readonly type: 'NodeSeen'; readonly reads: number; readonly beatMs: number; readonly drained?: string }
  | { readonly type: 'NodeLeft' };

export type PackageEvent =
  /**
   * One chunk of an uploaded plugin package, in the stream `package:<SHA-256 of the package>`. `index` is the number of
   * the chunk, beginning with 0; `count` is the number of all chunks; `data` is base64. No read model folds the event;
   * nodes read the chunks to unpack the package.
   */
  {
    readonly type: 'PackageChunk';
    readonly index: number;
    readonly count: number;
    readonly data: string;
  };

/**
 * The declaration of a type, in the stream `type:<plural>.<group>`. The last event is in force. A node with another
 * declaration writes no objects of the type (consistency protocol, 7).
 */
export type DeclarationEvent = { readonly type: 'TypeDeclared' } & Declaration;

/**
 * An event of the stream `unique:<plural>.<group>`: every value of an object in these indexes has a claim. This was
 * checked under the declaration at the revision `declared` of the type's stream. `late` is the number of events in the
 * log, at the time of the check, that follow this declaration but were decided by an older one. The event has no effect
 * if another declaration is in force at its position, or if the number of such events is no longer `late`.
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
 * The description of one access. `time` is a time as in RFC 3339. The name of an unknown user is omitted, because it
 * may be a password that was typed into the wrong field.
 */
export type AccessEntry = {
  readonly time: string;
  readonly kind: AccessKind;
  readonly requestId: string;
  readonly address?: string;
  readonly user?: string;
  readonly isUnknownUser?: true;
  readonly token?: string;
  /** The verb and the path of a forbidden request. The path has no query. */
  readonly verb?: string;
  readonly path?: string;
};

/**
 * Log-ins, log-outs and refusals between two times, in the stream `access:<node>`. Only one process writes to this
 * stream. `counts` contains the exact numbers by kind; `entries` describes a limited number of accesses. No read model
 * folds this event.
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
 * relies on this.
 */
export type Cause = {
  /**
   * The subject with the rights of the write: a user, `plugin:<name>`, `system:<part>` for a part of the platform, or
   * `system:anonymous` for a visitor.
   */
  readonly actor: string;
  /** The user of the request that the plugin handled, if the plugin wrote with its own rights. */
  readonly onBehalfOf?: string;
  /** The name of the personal access token of the request. */
  readonly token?: string;
  readonly verb: string;
  readonly requestId: string;
  /** The client's address. Absent if it is unknown, and for writes of the platform or a plugin outside of a request. */
  readonly address?: string;
  readonly userAgent?: string;
  /** W3C Trace Context `traceparent`. */
  readonly traceParent?: string;
  /** The plugin that made the write, if any. */
  readonly plugin?: string;
  /** For a restore: the position of the state that was restored. */
  readonly restoredFrom?: string;
};

/** An event that caused further events, because a reconciler's step reacted to it. */
export type CausingEvent = {
  readonly id: string;
  /** The id of the request at the beginning of the chain of events. All events of the chain contain this id. */
  readonly correlationId: string;
};

export type EventMetadata = Cause & {
  /**
   * The time of the event (RFC 3339, in UTC and with milliseconds): the time of the write, or the time of the last
   * folded event if that time is later.
   */
  readonly time: string;
  /** The version of the event's schema. event-codec.ts converts events of older versions. */
  readonly schema: number;
  /** The id of the request that caused this event, directly or through the steps of reconcilers. */
  readonly $correlationId: string;
  /** The id of the event that caused this event; absent if a request, or a step without a cause, wrote this event. */
  readonly $causationId?: string;
  /**
   * For an object event: the revision of the type declaration by which the event was decided; absent if the log had no
   * declaration.
   */
  readonly declared?: number;
};

/** The version of the event schema that this version of the server writes. */
export const eventSchema = 1;
