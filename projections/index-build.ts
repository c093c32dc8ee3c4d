import { must } from '../src/base/unreachable.ts';
import { listSliceObjectsMax } from '../src/limits/lists.ts';
import type { Change } from '../src/read/objects.ts';
import type { IndexEntry } from '../src/resource/index-entry.ts';
import type { ResourceType } from '../src/resource/resource-type.ts';
import { encodeEntry } from './entry-codec.ts';
import { keptEntry } from './index-entries.ts';
import type { LmdbTables } from './lmdb-tables.ts';
import { decodeRow, encodeRow } from './row.ts';
import { buildTypeIndex, type TypeIndex } from './type-index.ts';

/**
 * What changed while an index was being built, behind the place the build had reached: what lies ahead of it the build
 * reads anyway.
 */
export class IndexCatchUp {
  /** In order of the log. */
  readonly #missed: Change[] = [];
  /** The last name read; undefined before the first. Names up to it are in the build, as they were when it passed. */
  #reached: string | undefined;

  advance(name: string): void {
    this.#reached = name;
  }

  /** Everything is read: from here on every change is missed by the build. */
  finish(): void {
    this.#reached = '\uffff';
  }

  note(change: Change): void {
    if (this.#reached !== undefined && change.name <= this.#reached) this.#missed.push(change);
  }

  applyTo(index: TypeIndex): void {
    for (const { before, after } of this.#missed) {
      if (after !== undefined) index.put(after);
      else if (before !== undefined) index.remove(before);
    }
  }
}

/** Rows read per slice: about 2 ms, so that requests to other types are answered meanwhile. */
const sliceRows = listSliceObjectsMax * 4;

/** Stored objects that an index cannot take, as its function fails on them: how many values are missing, the first of them, what was thrown for it and where. */
export type Unindexed = { count: number; first?: string; problem?: string; trace?: string };

/** Rows read, of how many there are about: sorting them takes about as long again and is not told. */
export type BuildProgress = (done: number, total: number) => void;

type Stale = { readonly entry: IndexEntry; readonly isWhole: boolean };

type Build = { readonly catchUp: IndexCatchUp; readonly unindexed: Unindexed; readonly onProgress?: BuildProgress | undefined };

export async function buildIndex(type: ResourceType, tables: LmdbTables, build: Build): Promise<TypeIndex> {
  return buildTypeIndex(type.indexes, entriesOf(type, tables, build), { pause: nextTurn });
}

/** Before this many are read it is not worth counting them all. */
const countedFromRows = sliceRows * 8;

async function* entriesOf(type: ResourceType, tables: LmdbTables, { catchUp, unindexed, onProgress }: Build): AsyncGenerator<readonly IndexEntry[]> {
  let after: string | undefined;
  let done = 0;
  let total = 0;
  for (;;) {
    const { entries, stale } = readSlice(type, tables, { after, unindexed });
    const last = entries.at(-1);
    if (last === undefined) break;
    after = last.name;
    catchUp.advance(after);
    if (stale.length > 0) refresh(type, tables, stale);
    done += entries.length;
    if (done >= countedFromRows && onProgress !== undefined) {
      if (total === 0) total = tables.count(type.key);
      onProgress(done, total);
    }
    yield entries;
    await nextTurn();
  }
  catchUp.finish();
}

function readSlice(type: ResourceType, tables: LmdbTables, { after, unindexed }: { readonly after: string | undefined; readonly unindexed: Unindexed }): { readonly entries: readonly IndexEntry[]; readonly stale: readonly Stale[] } {
  const entries: IndexEntry[] = [];
  const stale: Stale[] = [];
  tables.scan(type.key, { after, limit: sliceRows }, (row) => {
    const missing = unindexed.count;
    const { entry, current } = keptEntry(row, type, (error) => {
      unindexed.count += 1;
      unindexed.problem ??= error.message;
      unindexed.trace ??= error.trace;
    });
    if (unindexed.count > missing) unindexed.first ??= entry.name;
    entries.push(entry);
    if (!current) stale.push({ entry, isWhole: unindexed.count === missing });
  });
  return { entries, stale };
}

/** Entries made under another declaration are made again beside their rows, so that the next start reads them as they are. */
function refresh(type: ResourceType, tables: LmdbTables, stale: readonly Stale[]): void {
  tables.commit((writer) => {
    for (const { entry, isWhole } of stale) {
      const row = must(tables.row(type.key, entry.name), 'a row read in this turn is there');
      writer.putRow(type.key, entry.name, encodeRow({ ...decodeRow(row), entry: encodeEntry(entry, type.fingerprint, isWhole) }), { recreated: false });
    }
  });
}

async function nextTurn(): Promise<void> {
  await new Promise((resolve) => { setImmediate(resolve); });
}
