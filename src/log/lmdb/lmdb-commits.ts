import { commitReason, positionBytes } from './lmdb-store.ts';
import type { LmdbStore } from './lmdb-store.ts';

/** The records of one append, for the two tables of the log. */
export type AppendedRecords = {
  readonly stream: string;
  /** The position of the first record. Further records have the next positions. */
  readonly position: number;
  readonly revision: number;
  readonly records: readonly Buffer[];
};

export type CommitListener = {
  /** Called when all records up to `position` are on disk. */
  readonly settled: (position: number) => void;
  /**
   * Called once, after a failure. The records since the last commit may or may not be on disk, and no further records
   * are written.
   */
  readonly failed: (reason: unknown, why: Promise<unknown>) => void;
};

/**
 * Group commit, one transaction at a time. lmdb itself would overlap transactions. A later transaction could then
 * succeed after an earlier transaction has failed, and leave a hole in the log. Therefore records that are added during
 * a transaction wait for the next transaction.
 */
export class LmdbCommits {
  readonly #store: LmdbStore;
  readonly #listener: CommitListener;
  /** Whether the current turn of the event loop has begun a transaction, which includes all puts of the turn. */
  #open = false;
  /** The promises of the current transaction. lmdb returns the same promise for several puts. */
  readonly #promises = new Set<Promise<boolean>>();
  #put = 0;
  #queued: AppendedRecords[] = [];
  #failed = false;

  constructor(store: LmdbStore, listener: CommitListener) {
    this.#store = store;
    this.#listener = listener;
  }

  add(append: AppendedRecords): void {
    if (this.#failed) return;
    if (this.#open || this.#promises.size === 0) this.#write(append);
    else this.#queued.push(append);
  }

  /** Resolves when no transaction is in progress. */
  async idle(): Promise<void> {
    while (this.#promises.size > 0) await Promise.allSettled(this.#promises);
  }

  #write({ stream, position, revision, records }: AppendedRecords): void {
    // lmdb starts the commit in a `setImmediate` callback that is registered at the first put. The callback below runs
    // earlier, so no put joins a transaction that is about to commit.
    if (!this.#open)
      setImmediate(() => {
        this.#open = false;
      });
    this.#open = true;
    // lmdb commits all puts of one turn as one transaction.
    try {
      for (const [index, record] of records.entries()) {
        this.#follow(this.#store.events.put(position + index, record));
        this.#follow(this.#store.streams.put([stream, revision + index], positionBytes(position + index)));
        this.#put = position + index;
      }
    } catch (error) {
      // Some puts of the append may be queued and cannot be undone, so this process must not write further records.
      this.#fail(error);
    }
  }

  #follow(promise: Promise<boolean>): void {
    if (this.#promises.has(promise)) return;
    this.#promises.add(promise);
    promise.then(
      () => {
        this.#done(promise);
      },
      (error: unknown) => {
        this.#promises.delete(promise);
        this.#fail(error);
      },
    );
  }

  #done(promise: Promise<boolean>): void {
    this.#promises.delete(promise);
    if (this.#failed || this.#promises.size > 0) return;
    this.#listener.settled(this.#put);
    const next = this.#queued;
    this.#queued = [];
    for (const append of next) this.add(append);
  }

  #fail(reason: unknown): void {
    // lmdb gives the cause in a separate promise. Its rejection must be handled in any case.
    const why = commitReason(reason);
    if (this.#failed) return;
    this.#failed = true;
    this.#queued = [];
    this.#listener.failed(reason, why);
  }
}
