import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Clock } from '../src/base/clock.ts';
import { listJoinedObjectsMax, listSliceObjectsMax, snapshotHoldMsMax, snapshotsMax } from '../src/limits.ts';
import type { LogPosition } from '../src/log/log.ts';
import { SnapshotsExhaustedError, type ListPage } from '../src/read/objects.ts';
import type { TypeKey } from '../src/resource/index-entry.ts';
import type { LmdbTables, Snapshot } from './lmdb-tables.ts';
import { answerStart } from './row.ts';
import type { QueryResult } from './type-index.ts';

/** Joins the rows a query names into a list's items: a short page at once, a long one slice by slice from a snapshot. */
export class ListPages {
  readonly #tables: LmdbTables;
  readonly #clock: Clock;
  /** Snapshots held now, by lists and initial watch states that are still being read. */
  #held = 0;

  constructor(tables: LmdbTables, clock: Clock) {
    this.#tables = tables;
    this.#clock = clock;
  }

  page(type: TypeKey, result: QueryResult, position: LogPosition): ListPage {
    const { names, total, next, remaining } = result;
    const items = names.length <= listJoinedObjectsMax ? this.#joined(type, names) : this.#slices(type, names);
    return { position, total, count: names.length, next, remaining, items };
  }

  /** Objects one by one, in batches, exactly as they are now however long reading takes. */
  batches(type: TypeKey, names: readonly string[]): AsyncIterable<readonly Uint8Array[]> {
    const snapshot = this.#snapshot();
    return readSlices(names, snapshot, (slice) => slice.map((name) => {
      const row = rowOf(snapshot, type, name);
      return row.subarray(answerStart(row));
    }));
  }

  #joined(type: TypeKey, names: readonly string[]): Uint8Array {
    let joined = Buffer.allocUnsafe(Math.max(names.length * 1024, 64));
    let length = 0;
    for (const name of names) {
      const row = this.#tables.rowFast(type, name);
      if (row === undefined) throw new Error(`invariant broken: ${type}/${name} is indexed and has no row`);
      const start = answerStart(row);
      const needed = length + 1 + row.length - start;
      if (needed > joined.length) joined = Buffer.concat([joined.subarray(0, length)], Math.max(needed, joined.length * 2));
      if (length > 0) joined[length++] = comma;
      length += row.copy(joined, length, start);
    }
    return joined.subarray(0, length);
  }

  #slices(type: TypeKey, names: readonly string[]): AsyncIterable<Uint8Array> {
    const snapshot = this.#snapshot();
    return readSlices(names, snapshot, (slice) => joinRows(slice.map((name) => rowOf(snapshot, type, name))));
  }

  /** A reader that stalls must not keep LMDB from reusing pages for ever: its snapshot is taken back, and its list fails. */
  #snapshot(): Snapshot {
    if (this.#held >= snapshotsMax) throw new SnapshotsExhaustedError(this.#held);
    this.#held += 1;
    const snapshot = this.#tables.snapshot();
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

async function* readSlices<T>(names: readonly string[], snapshot: Snapshot, read: (slice: readonly string[]) => T): AsyncGenerator<T> {
  try {
    for (let start = 0; start < names.length; start += listSliceObjectsMax) {
      // A reader that keeps up would otherwise hold the loop from its first slice to its last.
      if (start > 0) await nextTurn();
      yield read(names.slice(start, start + listSliceObjectsMax));
    }
  } finally {
    snapshot.release();
  }
}

function rowOf(snapshot: Snapshot, type: TypeKey, name: string): Buffer {
  const row = snapshot.row(type, name);
  if (row === undefined) throw new Error(`invariant broken: ${type}/${name} is indexed and has no row`);
  return row;
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
