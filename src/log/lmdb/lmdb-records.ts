import { decodeRecord } from './lmdb-record.ts';
import { hasRevision, openStore, positionBytes, type LmdbStore } from './lmdb-store.ts';
import { LogCorruptError, type RecordedEvent } from '../log.ts';

/** The stored bytes of a record, and the decoded event. */
export type RawRecord = {
  readonly position: number;
  readonly bytes: Buffer;
  readonly event: RecordedEvent;
};

/** Reads the records of a log. Another handle may write to the log at the same time. */
export class RecordReader {
  readonly #store: LmdbStore;
  /** The last durable position when the log was opened; 0 for an empty log. */
  readonly last: number;

  private constructor(store: LmdbStore) {
    this.#store = store;
    this.last = store.lastPosition;
  }

  static async open(dir: string): Promise<RecordReader> {
    return new RecordReader(await openStore(dir, true));
  }

  /**
   * Returns the records from `first` up to `last`, but no further record after the record that reaches `bytesMax`, or
   * after a gap. Keeps no snapshot open between calls, so that the log can reuse freed pages.
   *
   * @throws LogCorruptError if record `first` is missing, or if a record cannot be decoded.
   */
  take(first: number, last: number, bytesMax: number): readonly RawRecord[] {
    const taken: RawRecord[] = [];
    let [position, bytes] = [first, 0];
    for (const { key, value } of this.#store.events.getRange({ start: first, end: last + 1 })) {
      if (key !== position) break;
      taken.push({ position, bytes: value, event: decodeRecord(value, position) });
      position += 1;
      bytes += value.length;
      if (bytes >= bytesMax) break;
    }
    this.#store.root.resetReadTxn();
    if (taken.length === 0 && first <= last)
      throw new LogCorruptError(`the record is missing at position ${String(first)}`);
    return taken;
  }

  async close(): Promise<void> {
    await this.#store.root.close();
  }
}

/** Writes the records of a backup into an empty log, with their positions. */
export class RecordWriter {
  readonly #store: LmdbStore;
  #last = 0;

  private constructor(store: LmdbStore) {
    this.#store = store;
  }

  /** @throws Error if the log has events. */
  static async create(dir: string): Promise<RecordWriter> {
    const store = await openStore(dir);
    if (store.lastPosition === 0) return new RecordWriter(store);
    await store.root.close();
    throw new Error(`the log in ${dir} is not empty`);
  }

  /**
   * Adds records after the last record, in a single transaction. The records are on disk when `add` returns.
   *
   * @throws LogCorruptError if a position or a revision is missing or repeated.
   */
  add(records: readonly RawRecord[]): void {
    const { root, events, streams } = this.#store;
    root.transactionSync(() => {
      for (const { position, bytes, event } of records) {
        const { stream, revision } = event;
        if (position !== this.#last + 1)
          throw new LogCorruptError(`position ${String(position)} follows position ${String(this.#last)}`);
        const follows = revision === 0 || hasRevision(this.#store, stream, revision - 1);
        if (!follows || hasRevision(this.#store, stream, revision))
          throw new LogCorruptError(
            `the event at position ${String(position)} has revision ${String(revision)} of ${stream}, but ` +
              (follows ? 'another event has the same revision' : 'the previous revision is missing'),
          );
        events.putSync(position, bytes);
        streams.putSync([stream, revision], positionBytes(position));
        this.#last = position;
      }
    });
  }

  async close(): Promise<void> {
    await this.#store.root.close();
  }
}
