import type { CausingEvent } from '../command/event.ts';
import type { LogPosition, StreamRevision } from '../log/log.ts';
import type { IndexEntry, IndexKey, TypeKey } from '../resource/type/index-entry.ts';
import type { ListQuery, OrderPlace } from '../resource/query/list-query.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import type { SnapshotSlots } from './snapshot-slots.ts';

/** The ports of the object read model. Each read returns the state at `position()` in the turn of the call. */

/** An object in the form of a response. */
export type StoredObject = {
  /** The exact JSON of the response, with `metadata.resourceVersion`. Never modified. */
  readonly bytes: Uint8Array;
  /** `metadata.version`. */
  readonly revision: StreamRevision;
  /** `metadata.resourceVersion`. */
  readonly position: LogPosition;
};

/** Too many long lists are being read; the caller must retry later. */
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

/** The head of an object's stream. */
export type StreamHead =
  | { readonly kind: 'absent' }
  /** The object was deleted, or the name was fenced and never had an object. */
  | { readonly kind: 'deleted'; readonly revision: StreamRevision }
  | { readonly kind: 'live'; readonly stored: StoredObject };

/** Returns the last revision of the stream; undefined for a stream without events. */
export function lastRevision(head: StreamHead): StreamRevision | undefined {
  if (head.kind === 'absent') return undefined;
  return head.kind === 'deleted' ? head.revision : head.stored.revision;
}

export type ListPage = {
  /**
   * The position of the read. A watch from this position yields each later change, and no change that the list
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
   * The objects' JSON, joined with commas. A long page is a function that reads a snapshot at `position` in slices. The
   * function must be called in the same turn. The snapshot is released when the iteration ends or is abandoned.
   */
  readonly items: Uint8Array | (() => AsyncIterable<Uint8Array>);
};

/** `throwIfAborted` throws if the result is no longer needed. */
export type Wanted = Pick<AbortSignal, 'throwIfAborted'>;

/**
 * A list with a selection that needs more than one turn. The list has the objects, order and bytes of the turn in which
 * it began. Call exactly one of the methods.
 */
export type LongList = {
  /** Resolves with the page. Rejects with the error of `signal` after an abort. */
  rest(signal?: Wanted): Promise<ListPage>;
  /** Abandons the list. */
  leave(): void;
};

export type ListedObjects = {
  readonly position: LogPosition;
  readonly total: number;
  /**
   * Objects in batches from an open snapshot. The end of the iteration releases the snapshot, so the caller must start
   * the iteration.
   */
  readonly batches: AsyncIterable<readonly Uint8Array[]>;
};

/** The limits of a wait for a position. */
export type WaitOptions = {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
};

export type ObjectReader = {
  /** Limits concurrent snapshots. Take a slot before reading a snapshot for a client. */
  readonly snapshots: SnapshotSlots;
  /** Returns the position of the last folded event. */
  position(): LogPosition;
  /** Returns whether the log may have issued this position in its current epoch. */
  isKnown(position: LogPosition): boolean;
  get(type: TypeKey, name: string): StoredObject | undefined;
  head(type: TypeKey, name: string): StreamHead;
  /** Lists objects. Throws if the type's indexes are not ready. Must be called when `snapshots.turn` permits a list. */
  list(type: TypeKey, query: ListQuery): ListPage | LongList;
  /**
   * Returns the names of all matching objects in the default order (newest first, then by name), in the state of this
   * turn.
   */
  names(type: TypeKey, selection: ListQuery['selection'], signal?: Wanted): Promise<readonly string[]>;
  /**
   * Returns the names of all matching objects in pages, which are read on demand. An object that changes during the
   * iteration has its old or its new state. Throws if the type's indexes are dropped before the last page.
   */
  pages(type: TypeKey, query: Pick<ListQuery, 'selection' | 'sort'>): Iterable<readonly string[]>;
  /** Returns all matching objects in the state of the present position, for the initial state of a watch. */
  objects(type: TypeKey, query: ListQuery, signal?: Wanted): Promise<ListedObjects>;
  /**
   * Returns the name of an object that has `key` in the index at `index`. The result is only a hint
   * (docs/spec/consistency.md, 1). Undefined without such an object, or if the indexes are not ready or belong to
   * another declaration.
   */
  holderOf(type: Pick<ResourceType, 'key' | 'fingerprint'>, index: number, key: IndexKey): string | undefined;
  /**
   * Resolves with 'reached' as soon as each event up to `position` is folded, with 'timeout' after `timeoutMs`, or with
   * 'aborted'.
   */
  reached(position: LogPosition, options: WaitOptions): Promise<'reached' | 'timeout' | 'aborted'>;
  /**
   * Like `reached`, but also resolves with 'reached' for the position of an event that the models do not fold, such as
   * a log-in, as soon as all earlier events of the models are folded. Reads the log if this is not known yet.
   */
  contains(position: LogPosition, options: WaitOptions): Promise<'reached' | 'timeout' | 'aborted'>;
};

/** A change of one object, published in the turn of the commit. */
export type Change = {
  readonly type: TypeKey;
  readonly name: string;
  readonly kind: 'added' | 'modified' | 'deleted';
  readonly position: LogPosition;
  readonly revision: StreamRevision;
  /** The event of the change, which is the cause of further events. */
  readonly cause: CausingEvent;
  /** The id of the request or step that wrote the event, if this process wrote the event. */
  readonly requestId?: string | undefined;
  /** The response JSON after the change. For `deleted`, the last state with the deletion's resourceVersion. */
  readonly bytes: Uint8Array;
  /** The index entries before and after the change; undefined without an object or for an unregistered type. */
  readonly before: IndexEntry | undefined;
  readonly after: IndexEntry | undefined;
  /** Computes the response JSON before the change; undefined without an earlier object. */
  readonly previousBytes: (() => Uint8Array) | undefined;
  /** Whether the object is marked for deletion, and whether it has finalizers, after the change. */
  readonly deletionRequested: boolean;
  readonly finalizers: boolean;
};

/** All changes of one commit of the read model, in order. `position` is the commit's position, even without changes. */
export type ChangeBatch = {
  readonly changes: readonly Change[];
  readonly position: LogPosition;
};

export type ChangeFeed = {
  /** Calls `listener` synchronously after each commit, before any other reader runs. `listener` must not throw. */
  subscribe(listener: (batch: ChangeBatch) => void): () => void;
};
