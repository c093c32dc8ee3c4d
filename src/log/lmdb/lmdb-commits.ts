import { commitReason, positionBytes } from './lmdb-store.ts';
import type { LmdbStore } from './lmdb-store.ts';

/** One append, as it stands in the log's two tables. */
export type AppendedRecords = {
  readonly stream: string;
  /** Of the first record; the others follow it. */
  readonly position: number;
  readonly revision: number;
  readonly records: readonly Buffer[];
};

export type CommitListener = {
  /** Everything through `position` is on disk. */
  readonly settled: (position: number) => void;
  /** What was written since the last commit may or may not be on disk, and nothing follows it. Called once. */
  readonly failed: (reason: unknown, why: Promise<unknown>) => void;
};

/**
 * Group commit, one transaction at a time. lmdb would take the next transaction while one is on its way, and commit it even
 * when that one fails: a full disk that has no room for a large event has some for the small one after it, and the log would
 * have a hole. So what comes while a transaction is on its way waits for it, and is the next one.
 */
export class LmdbCommits {
  readonly #store: LmdbStore;
  readonly #listener: CommitListener;
  /** lmdb still adds this turn's puts to the transaction that was begun. */
  #open = false;
  /** lmdb answers all puts of a transaction with one promise, or a few. */
  readonly #promises = new Set<Promise<boolean>>();
  /** The last position that was put. */
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

  /** Resolves once nothing is on its way. */
  async idle(): Promise<void> {
    while (this.#promises.size > 0) await Promise.allSettled(this.#promises);
  }

  #write({ stream, position, revision, records }: AppendedRecords): void {
    // Before lmdb's own callback of this turn, with which it begins to commit: no put may come between the two.
    if (!this.#open) setImmediate(() => { this.#open = false; });
    this.#open = true;
    // From here to the last put is one turn of the event loop, which lmdb commits as one transaction.
    try {
      for (const [index, record] of records.entries()) {
        this.#follow(this.#store.events.put(position + index, record));
        this.#follow(this.#store.streams.put([stream, revision + index], positionBytes(position + index)));
        this.#put = position + index;
      }
    } catch (error) {
      // Half an append is queued and cannot be called back: whatever is on disk, this process must not build on it.
      this.#fail(error);
    }
  }

  #follow(promise: Promise<boolean>): void {
    if (this.#promises.has(promise)) return;
    this.#promises.add(promise);
    promise.then(() => { this.#done(promise); }, (error: unknown) => {
      this.#promises.delete(promise);
      this.#fail(error);
    });
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
    // Each rejection has a reason of its own to be asked for, or nobody would have caught that.
    const why = commitReason(reason);
    if (this.#failed) return;
    this.#failed = true;
    this.#queued = [];
    this.#listener.failed(reason, why);
  }
}
