import type { LogPosition, StreamRevision } from '../log/log.ts';
import type { IndexEntry, IndexKey, TypeKey } from '../resource/type/index-entry.ts';
import type { ListQuery, OrderPlace } from '../resource/query/list-query.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import type { SnapshotPlaces } from './snapshot-places.ts';

/** Ports of the object read model. A read sees one state: that of `position()` in the turn it is begun. */

/** An object as it is answered. */
export type StoredObject = {
  /** The exact JSON of the answer, `metadata.resourceVersion` included. Never changed after it is handed out. */
  readonly bytes: Uint8Array;
  /** `metadata.version`. */
  readonly revision: StreamRevision;
  /** `metadata.resourceVersion`. */
  readonly position: LogPosition;
};

/** Too many long lists are being read at once: the caller tries again later. */
export class SnapshotsExhaustedError extends Error {
  constructor(held: number) {
    super(`${String(held)} long lists are being read already`);
    this.name = 'SnapshotsExhaustedError';
  }
}

/** What stands in an object's stream: the base of every decision. */
export type StreamHead =
  | { readonly kind: 'absent' }
  /** Deleted, or a fenced name that never held an object. */
  | { readonly kind: 'gone'; readonly revision: StreamRevision }
  | { readonly kind: 'live'; readonly stored: StoredObject };

export type ListPage = {
  /** Where the list was read: a watch from here has neither gap nor repeat. */
  readonly position: LogPosition;
  /** Objects that match, in all pages. */
  readonly total: number;
  /** This page's objects, in order. */
  readonly count: number;
  /** Place of the page's last object when more follow it; undefined at the end. */
  readonly next: OrderPlace | undefined;
  /** Objects after this page's last one. */
  readonly remaining: number;
  /**
   * The objects' JSON, joined with commas. A short page is there at once; a long one comes in slices, none of which begins or
   * ends with a comma, read from a snapshot at `position`. The snapshot is taken by the call, which must be made in the turn
   * in which the page is given, and released when iteration ends or is abandoned.
   */
  readonly items: Uint8Array | (() => AsyncIterable<Uint8Array>);
};

/** Throws once nobody waits for what is being chosen any more. */
export type Wanted = Pick<AbortSignal, 'throwIfAborted'>;

/**
 * A list that takes longer than one turn to choose: it goes on in others, and its objects are those of the turn in which it
 * was begun, in their order and bytes of then. One of the two must be called.
 */
export type LongList = {
  /** Rejects with what `signal` throws where that is first; so do `names` and `objects`. */
  rest(signal?: Wanted): Promise<ListPage>;
  leave(): void;
};

export type ListedObjects = {
  readonly position: LogPosition;
  readonly total: number;
  /** Read from a snapshot, which is released when iteration ends or is abandoned. It must begin. */
  readonly batches: AsyncIterable<readonly Uint8Array[]>;
};

export type ObjectReader = {
  /** Whoever reads a snapshot for a client has a place here first. */
  readonly snapshots: SnapshotPlaces;
  /** The position of the last folded event. */
  position(): LogPosition;
  /** Whether the log may have given this position in the epoch it is in: another one's means nothing here. */
  isKnown(position: LogPosition): boolean;
  get(type: TypeKey, name: string): StoredObject | undefined;
  head(type: TypeKey, name: string): StreamHead;
  /** Throws for a type whose indexes are not ready. To be called in a turn that has time for it (`snapshots.turn`). */
  list(type: TypeKey, query: ListQuery): ListPage | LongList;
  /** The names of all that match, in order, as they are in this turn. */
  names(type: TypeKey, selection: ListQuery['selection'], signal?: Wanted): Promise<readonly string[]>;
  /**
   * The same names page by page, each read when it is taken: other work may come between two. What changes meanwhile is
   * among them as it was or as it is. Throws where the type's indexes are dropped before the last page.
   */
  pages(type: TypeKey, query: Pick<ListQuery, 'selection' | 'sort'>): Iterable<readonly string[]>;
  /** The same objects one by one, exactly as they are at `position`, which is that of this turn: a watch's initial state. */
  objects(type: TypeKey, query: ListQuery, signal?: Wanted): Promise<ListedObjects>;
  /**
   * The name of an object that has `key` in the index at `index`, as this node knows it: a hint (protocol, 1). None where the
   * indexes are not ready, or are another declaration's: the type was stopped or upgraded while the caller was at work.
   */
  holderOf(type: Pick<ResourceType, 'key' | 'fingerprint'>, index: number, key: IndexKey): string | undefined;
  /**
   * Resolves once every event up to `position` is folded: 'reached', or 'timeout' after `timeoutMs`, or 'aborted'.
   */
  reached(position: LogPosition, options: { readonly timeoutMs: number; readonly signal?: AbortSignal }): Promise<'reached' | 'timeout' | 'aborted'>;
};

/** One object's change, as published in the very turn its rows were committed. */
export type Change = {
  readonly type: TypeKey;
  readonly name: string;
  readonly kind: 'added' | 'modified' | 'deleted';
  readonly position: LogPosition;
  readonly revision: StreamRevision;
  /** The answer's JSON after the change; for `deleted` the last state, with the deletion's own resourceVersion. */
  readonly bytes: Uint8Array;
  /** What indexes held before and hold after; undefined where there was or is no object, or the type is not registered. */
  readonly before: IndexEntry | undefined;
  readonly after: IndexEntry | undefined;
  /** The answer's JSON before the change; undefined where there was no object. Made only when asked for. */
  readonly previousBytes: (() => Uint8Array) | undefined;
  /** Of the state after the change: marked for deletion, and held back by finalizers. */
  readonly deletionRequested: boolean;
  readonly finalizers: boolean;
};

/** All changes of one read-model commit, in order. `position` is the commit's last, also when no object changed. */
export type ChangeBatch = { readonly changes: readonly Change[]; readonly position: LogPosition };

export type ChangeFeed = {
  /** Calls `listener` synchronously after each commit, before anything else can read it. A listener must not throw. */
  subscribe(listener: (batch: ChangeBatch) => void): () => void;
};
