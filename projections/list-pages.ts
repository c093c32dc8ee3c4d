import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Clock } from '../src/base/clock.ts';
import { must } from '../src/base/unreachable.ts';
import { listJoinedBytesMax, listJoinedObjectsMax, listSliceBytesMax, listSliceObjectsMax, snapshotHoldMsMax, snapshotsMax } from '../src/limits/lists.ts';
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
    const joined = names.length <= listJoinedObjectsMax ? this.#joined(type, names) : undefined;
    return { position, total, count: names.length, next, remaining, items: joined ?? (() => this.#slices(type, names)) };
  }

  /** Objects one by one, in batches, exactly as they are now however long reading takes. */
  batches(type: TypeKey, names: readonly string[]): AsyncIterable<readonly Uint8Array[]> {
    const snapshot = this.#snapshot();
    return readSlices({ type, names, snapshot }, (rows) => rows.map((row) => row.subarray(answerStart(row))));
  }

  /** Undefined for more bytes than one turn should join. */
  #joined(type: TypeKey, names: readonly string[]): Uint8Array | undefined {
    let joined = Buffer.allocUnsafe(Math.max(names.length * 1024, 64));
    let length = 0;
    for (const name of names) {
      const row = this.#tables.rowFast(type, name);
      if (row === undefined) throw new Error(`invariant broken: ${type}/${name} is indexed and has no row`);
      const start = answerStart(row);
      const needed = length + 1 + row.length - start;
      if (needed > listJoinedBytesMax) return undefined;
      if (needed > joined.length) joined = Buffer.concat([joined.subarray(0, length)], Math.max(needed, joined.length * 2));
      if (length > 0) joined[length++] = comma;
      length += row.copy(joined, length, start);
    }
    return joined.subarray(0, length);
  }

  #slices(type: TypeKey, names: readonly string[]): AsyncIterable<Uint8Array> {
    const snapshot = this.#snapshot();
    return readSlices({ type, names, snapshot }, joinRows);
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

type Pinned = { readonly type: TypeKey; readonly names: readonly string[]; readonly snapshot: Snapshot };

async function* readSlices<T>({ type, names, snapshot }: Pinned, read: (rows: readonly Buffer[]) => T): AsyncGenerator<T> {
  try {
    for (let start = 0; start < names.length;) {
      // A reader that keeps up would otherwise hold the loop from its first slice to its last.
      if (start > 0) await nextTurn();
      const rows = sliceFrom(names, start, (name) => rowOf(snapshot, type, name));
      start += rows.length;
      yield read(rows);
    }
  } finally {
    snapshot.release();
  }
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
