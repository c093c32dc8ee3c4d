import type { Clock } from '../src/base/clock.ts';
import { Slices } from '../src/base/slices.ts';
import { EventLoopTurns } from '../src/base/event-loop-turns.ts';
import { must } from '../src/base/unreachable.ts';
import {
  listJoinedBytesMax,
  listJoinedObjectsMax,
  listSliceBytesMax,
  listSliceObjectsMax,
  listTurnMs,
  snapshotHoldMsMax,
  snapshotsMax,
} from '../src/limits/lists.ts';
import type { LogPosition } from '../src/log/log.ts';
import {
  SnapshotsExhaustedError,
  type ListedObjects,
  type ListPage,
  type LongList,
  type Wanted,
} from '../src/read/objects.ts';
import type { TypeKey } from '../src/resource/type/index-entry.ts';
import type { Choice, QueryResult } from './index/index-choice.ts';
import { JoinedAnswers } from './joined-answers.ts';
import type { LmdbTables, Snapshot } from './lmdb-tables.ts';

/** A query, with the position of the read model when the query started. */
export type Listing = {
  readonly type: TypeKey;
  readonly choice: Choice;
  readonly position: LogPosition;
};

type Pinned = {
  readonly type: TypeKey;
  readonly names: readonly string[];
  readonly snapshot: Snapshot;
};
type ReadRow = (name: string) => Buffer | undefined;

/**
 * Joins the rows of a query into the items of a list. Large pages are read in slices. All lists together use about
 * `listTurnMs` of each turn of the event loop for their slices.
 */
export class ListPages {
  readonly #tables: LmdbTables;
  readonly #clock: Clock;
  readonly #turns: EventLoopTurns;
  /** The number of snapshots that are in use by lists and by initial states of watches. */
  #held = 0;

  constructor(tables: LmdbTables, clock: Clock) {
    this.#tables = tables;
    this.#clock = clock;
    this.#turns = new EventLoopTurns(clock, listTurnMs);
  }

  page({ type, choice, position }: Listing): ListPage | LongList {
    const result = choice.advance(new Slices(this.#clock));
    if (result !== undefined) {
      const joined = this.#joined(result, (name) => this.#tables.rowFast(type, name));
      return pageOf(
        result,
        position,
        joined ??
          (() =>
            this.#slices({
              type,
              names: result.names,
              snapshot: this.#hold(this.#tables.snapshot()),
            })),
      );
    }
    // The snapshot is taken in the turn in which the query starts, so that the rows match the query's indexes.
    const snapshot = this.#tables.snapshot();
    return {
      rest: async (signal) => this.#rest({ type, choice, position }, snapshot, signal),
      leave: () => {
        choice.close();
        snapshot.release();
      },
    };
  }

  /**
   * Returns the objects in batches, in their state at the time of the call.
   *
   * @throws SnapshotsExhaustedError if `snapshotsMax` snapshots are in use.
   */
  async objects({ type, choice, position }: Listing, signal?: Wanted): Promise<ListedObjects> {
    let snapshot: Snapshot | undefined;
    try {
      snapshot = this.#hold(this.#tables.snapshot());
      const { names } = await this.#chosen(choice, signal);
      const batches = this.#readSlices({ type, names, snapshot }, (answers) => answers.each());
      return { position, total: names.length, batches };
    } catch (error) {
      choice.close();
      snapshot?.release();
      throw error;
    }
  }

  async names(choice: Choice, signal?: Wanted): Promise<readonly string[]> {
    try {
      return (await this.#chosen(choice, signal)).names;
    } finally {
      choice.close();
    }
  }

  async #rest({ type, choice, position }: Listing, first: Snapshot, signal: Wanted | undefined): Promise<ListPage> {
    let snapshot = first;
    try {
      snapshot = this.#hold(first);
      const held = snapshot;
      const result = await this.#chosen(choice, signal);
      const joined = this.#joined(result, (name) => held.rowFast(type, name));
      if (joined !== undefined) held.release();
      return pageOf(result, position, joined ?? (() => this.#slices({ type, names: result.names, snapshot: held })));
    } catch (error) {
      choice.close();
      snapshot.release();
      throw error;
    }
  }

  async #chosen(choice: Choice, signal?: Wanted): Promise<QueryResult> {
    for (;;) {
      await this.#turns.next();
      signal?.throwIfAborted();
      const result = choice.advance(new Slices(this.#clock));
      if (result !== undefined) return result;
    }
  }

  /** Joins the rows of a page. Returns undefined if the page is too large for one turn. */
  #joined({ names }: QueryResult, read: ReadRow): Uint8Array | undefined {
    if (names.length > listJoinedObjectsMax) return undefined;
    const answers = new JoinedAnswers(names.length);
    for (const name of names) {
      answers.add(present(read(name), name));
      if (answers.length > listJoinedBytesMax) return undefined;
    }
    return answers.joined();
  }

  #slices(pinned: Pinned): AsyncIterable<Uint8Array> {
    return this.#readSlices(pinned, (answers) => answers.joined());
  }

  async *#readSlices<T>({ type, names, snapshot }: Pinned, read: (answers: JoinedAnswers) => T): AsyncGenerator<T> {
    try {
      for (let start = 0; start < names.length;) {
        // Yields between slices, since a fast reader would otherwise block the event loop.
        if (start > 0) await this.#turns.next();
        const answers = this.#slice(names, start, (name) => snapshot.rowFast(type, name));
        start += answers.count;
        yield read(answers);
      }
    } finally {
      snapshot.release();
    }
  }

  /**
   * Joins at least one and at most `listSliceObjectsMax` rows. Stops early at `listSliceBytesMax` bytes, or when the
   * time slice is over.
   */
  #slice(names: readonly string[], start: number, read: ReadRow): JoinedAnswers {
    const end = Math.min(names.length, start + listSliceObjectsMax);
    const answers = new JoinedAnswers(end - start);
    const slices = new Slices(this.#clock);
    for (let at = start; at < end && answers.length < listSliceBytesMax; at += 1) {
      const name = must(names[at], 'the offset is within the names');
      answers.add(present(read(name), name));
      if (answers.count % rowsPerTimeCheck === 0 && slices.isOver()) break;
    }
    return answers;
  }

  /**
   * Takes one of `snapshotsMax` slots, and releases the snapshot after `snapshotHoldMsMax`, since the reader may stall.
   * Later reads from the snapshot fail. LMDB cannot reuse freed pages while a snapshot exists.
   *
   * @throws SnapshotsExhaustedError if `snapshotsMax` snapshots are in use. `snapshot` is then released.
   */
  #hold(snapshot: Snapshot): Snapshot {
    if (this.#held >= snapshotsMax) {
      snapshot.release();
      throw new SnapshotsExhaustedError(this.#held);
    }
    this.#held += 1;
    let held = true;
    const release = (): void => {
      if (!held) return;
      held = false;
      this.#held -= 1;
      timer.cancel();
      snapshot.release();
    };
    const timer = this.#clock.after(snapshotHoldMsMax, release);
    return {
      rowFast: (type, name) => {
        if (!held) throw new Error('could not read the rest of the list: the time limit of its snapshot has passed');
        return snapshot.rowFast(type, name);
      },
      release,
    };
  }
}

/** The number of rows between two checks of the time. */
const rowsPerTimeCheck = 16;

function pageOf(
  { names, total, next, remaining }: QueryResult,
  position: LogPosition,
  items: ListPage['items'],
): ListPage {
  return { position, total, count: names.length, next, remaining, items };
}

function present(row: Buffer | undefined, name: string): Buffer {
  if (row === undefined) throw new Error(`invariant violated: the object ${name} is in an index but has no row`);
  return row;
}
