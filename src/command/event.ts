import type { Declaration } from '../resource/type/declaration.ts';
import type { HeldValue } from '../resource/held-values.ts';
import type { ResourceObject } from '../resource/object/object.ts';

export type { HeldValue } from '../resource/held-values.ts';

/**
 * What has happened, in the past tense. An object event carries the whole object after it, so a watch frame, a history entry
 * and a rebuild need no other read; and `values`, every unique value held after it, so whether a value is held is judged
 * from events and never by running a plugin's code (consistency protocol, 1).
 */

export type ObjectEvent =
  | { readonly type: 'ObjectCreated'; readonly object: ResourceObject; readonly values: readonly HeldValue[] }
  | { readonly type: 'ObjectUpdated'; readonly object: ResourceObject; readonly values: readonly HeldValue[] }
  | { readonly type: 'ObjectDeletionRequested'; readonly object: ResourceObject; readonly values: readonly HeldValue[] }
  /** The object's last state; nothing is held any more. */
  | { readonly type: 'ObjectDeleted'; readonly object: ResourceObject; readonly values: readonly [] }
  /** Takes a revision so that a pending append at it can no longer land; without an object on a name that has none. */
  | { readonly type: 'NameFenced'; readonly object?: ResourceObject; readonly values: readonly HeldValue[] };

export type ClaimEvent =
  /** `holder` is an object stream; `through` the highest expected revision of any attempt in its tenure (-1: absent). */
  | { readonly type: 'ValueClaimed'; readonly holder: string; readonly through: number }
  | { readonly type: 'ValueReleased'; readonly holder: string; readonly through: number };

export type SecretEvent =
  /** `hash` is a PHC string (`$scrypt$…`). It counts once an event of the user's names its revision. */
  | { readonly type: 'PasswordSet'; readonly hash: string }
  /** `digest` is the SHA-256 of the token's text, in hex: the text itself is nowhere. */
  | { readonly type: 'TokenIssued'; readonly digest: string };

/** Of the log itself, in the stream `platform:log`: the first is its founding, and the last EpochStarted says what counts. */
export type PlatformEvent =
  /**
   * From here on positions may repeat what other copies of this log, or this one before it was restored, gave: they count
   * within the epoch only (consistency protocol, 5). `domain` is the platform's; a log belongs to one.
   */
  | { readonly type: 'EpochStarted'; readonly logId: string; readonly domain: string; readonly epoch: number; readonly reason: 'founded' | 'copied' | 'restored'; readonly copyOf?: { readonly logId: string; readonly epoch: number } }
  /** The copy that the epoch began as is whole and was compared with its source. Until then nothing may serve from it. */
  | { readonly type: 'CopyFinished'; readonly events: number };

/** Which node does what only one needs to do, in a stream `lease:<name>` (consistency protocol, 6). Only the last one counts. */
export type LeaseEvent =
  /** Each renewal is another one. `leaseMs` is how long others wait in which the stream does not grow. */
  | { readonly type: 'LeaseHeld'; readonly holder: string; readonly leaseMs: number }
  | { readonly type: 'LeaseReleased'; readonly holder: string };

/**
 * In the stream `platform:level`: from here on events of this level may be written. A node that does not read it stops here, as
 * does a version that knows no levels (consistency protocol, 7).
 */
export type LevelEvent = { readonly type: 'LevelRaised'; readonly level: number };

/**
 * In `lease:node/<id>`, again and again while a node runs: which level it reads, and up to which position (decimal) no append of
 * its that an older declaration decided is still to land (consistency protocol, 1).
 */
export type NodeEvent =
  | { readonly type: 'NodeSeen'; readonly reads: number; readonly beatMs: number; readonly drained?: string }
  | { readonly type: 'NodeLeft' };

export type PackageEvent =
  /**
   * A piece of a plugin's package as it was uploaded, in the stream `package:<SHA-256 of the whole>`: event `index` of `count`
   * in order, `data` in base64. Nothing folds it; it is read when a node unpacks the package.
   */
  | { readonly type: 'PackageChunk'; readonly index: number; readonly count: number; readonly data: string };

/**
 * What a type is declared as from here on, in the stream `type:<plural>.<group>`. Its last one counts: a node that has another
 * declaration writes no object of the type (consistency protocol, 7).
 */
export type DeclarationEvent = { readonly type: 'TypeDeclared' } & Declaration;

/**
 * In the stream `unique:<plural>.<group>`: of all objects that hold a value of these indexes a claim says so, as of the type's
 * declaration at the revision `declared`, and of `late` events since then that an older one decided. It says nothing if the log
 * has another declaration or more such events before it.
 */
export type UniquenessEvent = {
  readonly type: 'UniqueEnforced';
  readonly declared: number;
  readonly late: number;
  readonly indexes: readonly string[];
};

export type Event = UniquenessEvent | ObjectEvent | ClaimEvent | SecretEvent | PlatformEvent | LeaseEvent | PackageEvent | DeclarationEvent | LevelEvent | NodeEvent;

/** Who caused an event and how (decision 10.1). */
export type Cause = {
  /** The user's name; `system:<part>` for the platform's own writes. */
  readonly actor: string;
  /** The personal access token they showed, by name. */
  readonly token?: string;
  readonly verb: string;
  readonly requestId: string;
  /** The client's address; absent for the platform's own writes. */
  readonly address?: string;
  readonly userAgent?: string;
  /** W3C Trace Context `traceparent`. */
  readonly traceParent?: string;
  /** The plugin through which it was written, if any. */
  readonly plugin?: string;
};

export type EventMetadata = Cause & {
  /** RFC 3339, UTC, milliseconds: max(now, the last folded event's). */
  readonly time: string;
  /** The version of the event's shape: older ones are upcast in event-codec.ts. */
  readonly schema: number;
  readonly $correlationId: string;
  readonly $causationId?: string;
  /** Of an object's: the revision of its type's declaration that it was decided by. Absent: none was known. */
  readonly declared?: number;
};

/** The event schema this version writes. */
export const eventSchema = 1;
