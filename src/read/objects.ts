import type { CausingEvent } from '../command/event.ts';
import type { LogPosition, StreamRevision } from '../log/log.ts';
import type { IndexEntry, IndexKey, TypeKey } from '../resource/type/index-entry.ts';
import type { ListQuery, OrderPlace } from '../resource/query/list-query.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import type { SnapshotSlots } from './snapshot-slots.ts';

/** The interfaces of the object read model. Each read returns the state at `position()` in the turn of the call. */

/** An object in the form of a response. */
export type StoredObject = {
  /** The exact JSON of the response, `metadata.resourceVersion` included. Never modified. */
  readonly bytes: Uint8Array;
  /** `metadata.version`. */
  readonly revision: StreamRevision;
  /** `metadata.resourceVersion`. */
  readonly position: LogPosition;
};

/** Too many long lists are being read, so the caller must retry later. */
export class SnapshotsExhaustedError extends Error {
  constructor(held: number) {
    super(`${String(held)} long lists are being read already: try again later`);
    this.name = 'SnapshotsExhaustedError';
  }
}

/** The type is no longer served, because its indexes were dropped or are being built. */
export class NotServedError extends Error {
  constructor(type: TypeKey) {
    super(`the indexes of ${type} are not ready`);
    this.name = 'NotServedError';
  }
}

/** The head of an object's stream, the base of every decision. */
export type StreamHead =
  | { readonly kind: 'absent' }
  /** The object was deleted, or the name was fenced and never had an object. */
  | { readonly kind: 'deleted'; readonly revision: StreamRevision }
  | { readonly kind: 'live'; readonly stored: StoredObject };

/** The last revision of the stream; undefined for a stream without events. */
export function lastRevision(head: StreamHead): StreamRevision | undefined {
  if (head.kind === 'absent') return undefined;
  return head.kind === 'deleted' ? head.revision : head.stored.revision;
}

export type ListPage = {
  /**
   * The position of the read. A watch from this position yields every later change, and no change that the list
   * contains.
   */
  readonly position: LogPosition;
  /** The number of matching objects, over all pages. */
  readonly total: number;
  /** The number of objects in this page. */
  readonly count: number;
  /** The place of the page's last object; undefined on the last page. */
  readonly next: OrderPlace | undefined;
  /** The number of objects after this page. */
  readonly remaining: number;
  /**
   * The objects' JSON, joined with commas. A short page is available at once. A long page is read in slices from a
   * snapshot at `position`; no slice begins or ends with a comma. The function takes the snapshot and must be called in
   * the same turn. The snapshot is released when the iteration ends or is abandoned.
   */
  readonly items: Uint8Array | (() => AsyncIterable<Uint8Array>);
};

/** `throwIfAborted` throws if the result of a selection is no longer needed. */
export type Wanted = Pick<AbortSignal, 'throwIfAborted'>;

/**
 * A list with a selection that needs more than one turn. The list continues in later turns, but has the objects, order
 * and bytes of the turn in which it began. Call exactly one of the methods.
 */
export type LongList = {
  /**
   * Resolves with the page. Rejects with the error of `signal` if `signal` aborts first. `ObjectReader.names` and
   * `ObjectReader.objects` do the same.
   */
  rest(signal?: Wanted): Promise<ListPage>;
  /** Abandons the list. */
  leave(): void;
};

export type ListedObjects = {
  readonly position: LogPosition;
  readonly total: number;
  /**
   * Objects in batches from a snapshot that is already open. The end of the iteration releases the snapshot, so the
   * caller must start the iteration.
   */
  readonly batches: AsyncIterable<readonly Uint8Array[]>;
};

/** The limits of a wait for a position. */
export type WaitOptions = {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
};

export type ObjectReader = {
  /** Limits concurrent snapshots. Acquire a slot before reading a snapshot for a client. */
  readonly snapshots: SnapshotSlots;
  /** The position of the last folded event. */
  position(): LogPosition;
  /**
   * Whether the log may have issued this position in its current epoch. Positions of other epochs have no meaning in
   * this epoch.
   */
  isKnown(position: LogPosition): boolean;
  get(type: TypeKey, name: string): StoredObject | undefined;
  head(type: TypeKey, name: string): StreamHead;
  /**
   * Lists objects. Throws if the type's indexes are not ready. Call this method when `snapshots.turn` permits a list.
   */
  list(type: TypeKey, query: ListQuery): ListPage | LongList;
  /** The names of all matching objects in the default order (newest first, then by name), in the state of this turn. */
  names(type: TypeKey, selection: ListQuery['selection'], signal?: Wanted): Promise<readonly string[]>;
  /**
   * The names of all matching objects, page by page. Each page is read when it is consumed, so that other work can run
   * in between. An object that changes during the iteration has its old or its new state. Throws if the type's indexes
   * are dropped before the last page.
   */
  pages(type: TypeKey, query: Pick<ListQuery, 'selection' | 'sort'>): Iterable<readonly string[]>;
  /** All matching objects one by one, in the state of the present position: the initial state of a watch. */
  objects(type: TypeKey, query: ListQuery, signal?: Wanted): Promise<ListedObjects>;
  /**
   * The name of an object that has `key` in the index at `index`, according to this node. The result is only a hint
   * (consistency protocol, 1). Undefined if there is no such object, or if the indexes are not ready or belong to
   * another declaration, because the type was stopped or upgraded.
   */
  holderOf(type: Pick<ResourceType, 'key' | 'fingerprint'>, index: number, key: IndexKey): string | undefined;
  /**
   * Resolves with 'reached' as soon as every event up to `position` is folded, 'timeout' after `timeoutMs`, or
   * 'aborted'.
   */
  reached(position: LogPosition, options: WaitOptions): Promise<'reached' | 'timeout' | 'aborted'>;
};

/** A change of one object, published in the turn of the commit. */
export type Change = {
  readonly type: TypeKey;
  readonly name: string;
  readonly kind: 'added' | 'modified' | 'deleted';
  readonly position: LogPosition;
  readonly revision: StreamRevision;
  /** The event of the change. Events that follow from the change name this event as their cause. */
  readonly cause: CausingEvent;
  /** The id of the request or step that wrote the event, if this process wrote the event. */
  readonly requestId?: string | undefined;
  /** The response JSON after the change; for `deleted`, the last state with the deletion's resourceVersion. */
  readonly bytes: Uint8Array;
  /** The index entries before and after the change; undefined without an object or for an unregistered type. */
  readonly before: IndexEntry | undefined;
  readonly after: IndexEntry | undefined;
  /** Computes the response JSON before the change; undefined without an earlier object. */
  readonly previousBytes: (() => Uint8Array) | undefined;
  /**
   * The state after the change. `deletionRequested`: whether the object is marked for deletion. `finalizers`: whether
   * the object has finalizers.
   */
  readonly deletionRequested: boolean;
  readonly finalizers: boolean;
};

/** All changes of one read model commit, in order. `position`: the commit's position, even if no object changed. */
export type ChangeBatch = {
  readonly changes: readonly Change[];
  readonly position: LogPosition;
};

export type ChangeFeed = {
  /** Calls `listener` synchronously after each commit, before any other reader runs. `listener` must not throw. */
  subscribe(listener: (batch: ChangeBatch) => void): () => void;
};
