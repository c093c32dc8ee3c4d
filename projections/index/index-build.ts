import type { Slices } from '../../src/base/slices.ts';
import { must } from '../../src/base/unreachable.ts';
import { listSliceObjectsMax } from '../../src/limits/lists.ts';
import type { Change } from '../../src/read/objects.ts';
import type { IndexEntry } from '../../src/resource/type/index-entry.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { encodeEntry } from './entry-codec.ts';
import { keptEntry } from './index-entries.ts';
import type { LmdbTables } from '../lmdb-tables.ts';
import { decodeRow, encodeRow } from '../row.ts';
import { buildTypeIndex, type TypeIndex } from './type-index.ts';

/**
 * What changed while an index was being built, behind the place the build had reached: what lies ahead of it the build
 * reads anyway.
 */
export class IndexCatchUp {
  /** What each object has become, undefined for one that is gone: no more than there are names, however many the changes. */
  readonly #missed = new Map<string, IndexEntry | undefined>();
  /** The last name read; undefined before the first. Names up to it are in the build, as they were when it passed. */
  #reached: string | undefined;

  advance(name: string): void {
    this.#reached = name;
  }

  /** Everything is read: from here on every change is missed by the build. */
  finish(): void {
    this.#reached = '\uffff';
  }

  note({ name, after }: Pick<Change, 'name' | 'after'>): void {
    if (this.#reached !== undefined && name <= this.#reached) this.#missed.set(name, after);
  }

  /** Applies what was missed until `isOver`; whether nothing is left, which holds for the rest of this turn. */
  applyTo(index: TypeIndex, isOver: () => boolean): boolean {
    for (const [name, after] of this.#missed) {
      this.#missed.delete(name);
      if (after === undefined) index.remove({ name });
      else index.put(after);
      if (isOver()) break;
    }
    return this.#missed.size === 0;
  }
}

/** Rows read in one slice at most, however fast: their entries are held until they are added. */
const sliceRows = listSliceObjectsMax * 4;

/** Stored objects that an index cannot take, as its function fails on them: how many values are missing, the first of them, what was thrown for it and where. */
export type Unindexed = { count: number; first?: string; problem?: string; trace?: string };

/** Rows read, of how many there are at most: sorting them takes about as long again and is not told. */
export type BuildProgress = (done: number, total: number) => void;

type Stale = { readonly entry: IndexEntry; readonly isWhole: boolean };

export type Build = {
  readonly slices: Slices;
  readonly catchUp: IndexCatchUp;
  readonly unindexed: Unindexed;
  readonly onProgress?: BuildProgress | undefined;
  /** How many objects are known to be of other types. */
  readonly others: () => number;
  /** False once its type is stopped, or another build of it has begun. */
  readonly isWanted: () => boolean;
};

/** Undefined for one that was not wanted any more before it was done. */
export async function buildIndex(type: ResourceType, tables: LmdbTables, build: Build): Promise<TypeIndex | undefined> {
  const { slices } = build;
  const next = async (): Promise<void> => {
    await slices.next();
    if (!build.isWanted()) throw new NotWantedError();
  };
  try {
    return await buildTypeIndex(type.indexes, entriesOf(type, tables, build), { isOver: () => slices.isOver(), next });
  } catch (error) {
    if (error instanceof NotWantedError) return undefined;
    throw error;
  }
}

class NotWantedError extends Error {}

/** Before this many are read it is over sooner than anybody asks. */
const toldFromRows = sliceRows * 8;

/** A slice each time it is asked: whoever adds them lets other work have its turn in between. */
function* entriesOf(type: ResourceType, tables: LmdbTables, build: Build): Generator<readonly IndexEntry[]> {
  const { catchUp, onProgress } = build;
  let after: string | undefined;
  let done = 0;
  for (;;) {
    const { entries, stale } = readSlice(type, tables, { ...build, after });
    const last = entries.at(-1);
    if (last === undefined) break;
    after = last.name;
    catchUp.advance(after);
    if (stale.length > 0) refresh(type, tables, stale);
    done += entries.length;
    if (done >= toldFromRows) onProgress?.(done, Math.max(done, tables.size() - build.others()));
    yield entries;
  }
  catchUp.finish();
}

type ReadSlice = { readonly entries: readonly IndexEntry[]; readonly stale: readonly Stale[] };

/** Ends by time and not by count alone: an index function may take a millisecond for each object. */
function readSlice(type: ResourceType, tables: LmdbTables, { after, unindexed, slices }: Build & { readonly after: string | undefined }): ReadSlice {
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
    return !slices.isOver();
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
