import type { Clock } from '../src/base/clock.ts';
import { Slices } from '../src/base/slices.ts';
import { Turns } from '../src/base/turns.ts';
import { must } from '../src/base/unreachable.ts';
import { listJoinedBytesMax, listJoinedObjectsMax, listSliceBytesMax, listSliceObjectsMax, listTurnMs, snapshotHoldMsMax, snapshotsMax } from '../src/limits/lists.ts';
import type { LogPosition } from '../src/log/log.ts';
import { SnapshotsExhaustedError, type ListedObjects, type ListPage, type LongList, type Wanted } from '../src/read/objects.ts';
import type { TypeKey } from '../src/resource/type/index-entry.ts';
import type { Choice, QueryResult } from './index/index-choice.ts';
import type { LmdbTables, Snapshot } from './lmdb-tables.ts';
import { answerStart } from './row.ts';

/** What is listed: a choice that was begun in this turn, and the position of this turn. */
export type Listing = { readonly type: TypeKey; readonly choice: Choice; readonly position: LogPosition };

type Pinned = { readonly type: TypeKey; readonly names: readonly string[]; readonly snapshot: Snapshot };
type ReadRow = (name: string) => Buffer | undefined;

/**
 * Joins the rows a query names into a list's items: a short page at once, a long one slice by slice from a snapshot. All
 * that takes several turns shares a part of each.
 */
export class ListPages {
  readonly #tables: LmdbTables;
  readonly #clock: Clock;
  readonly #turns: Turns;
  /** Snapshots held now, by lists and initial watch states that are still being read. */
  #held = 0;

  constructor(tables: LmdbTables, clock: Clock) {
    this.#tables = tables;
    this.#clock = clock;
    this.#turns = new Turns(clock, listTurnMs);
  }

  page({ type, choice, position }: Listing): ListPage | LongList {
    const result = choice.advance(new Slices(this.#clock));
    if (result !== undefined) {
      const joined = this.#joined(result, (name) => this.#tables.rowFast(type, name));
      return pageOf(result, position, joined ?? (() => this.#slices({ type, names: result.names, snapshot: this.#hold(this.#tables.snapshot()) })));
    }
    // Taken in this turn: order and rows are of one state.
    const snapshot = this.#tables.snapshot();
    return {
      rest: async (signal) => this.#rest({ type, choice, position }, snapshot, signal),
      leave: () => {
        choice.close();
        snapshot.release();
      },
    };
  }

  /** Objects one by one, in batches, exactly as they are now however long choosing and reading takes. */
  async objects({ type, choice, position }: Listing, signal?: Wanted): Promise<ListedObjects> {
    let snapshot: Snapshot | undefined;
    try {
      snapshot = this.#hold(this.#tables.snapshot());
      const { names } = await this.#chosen(choice, signal);
      const batches = this.#readSlices({ type, names, snapshot }, (rows) => rows.map((row) => row.subarray(answerStart(row))));
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

  async #rest({ type, choice, position }: Listing, taken: Snapshot, signal: Wanted | undefined): Promise<ListPage> {
    let snapshot = taken;
    try {
      snapshot = this.#hold(taken);
      const held = snapshot;
      const result = await this.#chosen(choice, signal);
      const joined = this.#joined(result, (name) => held.row(type, name));
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

  /** Undefined for more than one turn should join. */
  #joined({ names }: QueryResult, read: ReadRow): Uint8Array | undefined {
    if (names.length > listJoinedObjectsMax) return undefined;
    let joined = Buffer.allocUnsafe(Math.max(names.length * 1024, 64));
    let length = 0;
    for (const name of names) {
      const row = present(read(name), name);
      const start = answerStart(row);
      const needed = length + 1 + row.length - start;
      if (needed > listJoinedBytesMax) return undefined;
      if (needed > joined.length) joined = Buffer.concat([joined.subarray(0, length)], Math.max(needed, joined.length * 2));
      if (length > 0) joined[length++] = comma;
      length += row.copy(joined, length, start);
    }
    return joined.subarray(0, length);
  }

  #slices(pinned: Pinned): AsyncIterable<Uint8Array> {
    return this.#readSlices(pinned, joinRows);
  }

  async *#readSlices<T>({ type, names, snapshot }: Pinned, read: (rows: readonly Buffer[]) => T): AsyncGenerator<T> {
    try {
      for (let start = 0; start < names.length;) {
        // A reader that keeps up would otherwise hold the loop from its first slice to its last.
        if (start > 0) await this.#turns.next();
        const rows = sliceFrom(names, start, (name) => present(snapshot.row(type, name), name));
        start += rows.length;
        yield read(rows);
      }
    } finally {
      snapshot.release();
    }
  }

  /** A reader that stalls must not keep LMDB from reusing pages for ever: its snapshot is taken back, and its list fails. */
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
      row: (type, name) => {
        if (!held) throw new Error('the list took too long to read: its snapshot was released');
        return snapshot.row(type, name);
      },
      release,
    };
  }
}

const comma = 0x2c;

function pageOf({ names, total, next, remaining }: QueryResult, position: LogPosition, items: ListPage['items']): ListPage {
  return { position, total, count: names.length, next, remaining, items };
}

function present(row: Buffer | undefined, name: string): Buffer {
  if (row === undefined) throw new Error(`invariant broken: ${name} is indexed and has no row`);
  return row;
}

/** At least one row. */
function sliceFrom(names: readonly string[], start: number, rowOfName: (name: string) => Buffer): readonly Buffer[] {
  const rows: Buffer[] = [];
  let bytes = 0;
  for (let at = start; at < names.length && rows.length < listSliceObjectsMax && bytes < listSliceBytesMax; at += 1) {
    const row = rowOfName(must(names[at], 'it is within the names'));
    rows.push(row);
    bytes += row.length;
  }
  return rows;
}

function joinRows(rows: readonly Buffer[]): Buffer {
  const length = rows.reduce((sum, row) => sum + row.length - answerStart(row) + 1, -1);
  const joined = Buffer.allocUnsafe(length);
  let at = 0;
  for (const row of rows) {
    if (at > 0) joined[at++] = comma;
    at += row.copy(joined, at, answerStart(row));
  }
  return joined;
}
