import type { BuildProgress, Unindexed } from '../../src/read/index-build.ts';
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

/** Records changes during an index build that affect names which the build has passed; later names are read anyway. */
export class IndexCatchUp {
  /**
   * The latest state of each changed object, undefined if deleted. Its size depends on the number of names, not of
   * changes.
   */
  readonly #missed = new Map<string, IndexEntry | undefined>();
  /**
   * The last name that was read; undefined before the first. The build contains the names up to this one, in their
   * state at that time.
   */
  #reached: string | undefined;

  advance(name: string): void {
    this.#reached = name;
  }

  /** Call it when all rows are read: from now on the build misses every change. */
  finish(): void {
    this.#reached = '\uffff';
  }

  note({ name, after }: Pick<Change, 'name' | 'after'>): void {
    if (this.#reached !== undefined && name <= this.#reached) this.#missed.set(name, after);
  }

  /** Applies missed changes until `isOver`. Returns whether none is left; this stays true for the rest of the turn. */
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

/** The most rows read in one slice: their entries stay in memory until they are added. */
const sliceRows = listSliceObjectsMax * 4;

type Stale = { readonly entry: IndexEntry; readonly isWhole: boolean };

export type Build = {
  readonly slices: Slices;
  readonly catchUp: IndexCatchUp;
  /** Counters of the build. */
  readonly unindexed: { -readonly [Member in keyof Unindexed]: Unindexed[Member] };
  readonly onProgress?: BuildProgress | undefined;
  /** The number of objects of other types. */
  readonly others: () => number;
  /** False once the type is stopped, or a new build of it has started. */
  readonly isWanted: () => boolean;
};

/** Undefined if the build was cancelled. */
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

/** A build of fewer rows ends before a report is useful. */
const reportedRowsMin = sliceRows * 8;

/** Yields one slice at a time, so that the caller can let other work run. */
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
    if (done >= reportedRowsMin) onProgress?.(done, Math.max(done, tables.size() - build.others()));
    yield entries;
  }
  catchUp.finish();
}

type ReadSlice = { readonly entries: readonly IndexEntry[]; readonly stale: readonly Stale[] };

/** A slice ends by time as well as by count: an index function may take a millisecond for each object. */
function readSlice(
  type: ResourceType,
  tables: LmdbTables,
  { after, unindexed, slices }: Build & { readonly after: string | undefined },
): ReadSlice {
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

/**
 * Stores the recomputed entries beside their rows, instead of those of another declaration, so that the next start can
 * use them.
 */
function refresh(type: ResourceType, tables: LmdbTables, stale: readonly Stale[]): void {
  tables.commit((writer) => {
    for (const { entry, isWhole } of stale) {
      const row = must(tables.row(type.key, entry.name), 'a row read in this turn exists');
      writer.putRow(
        type.key,
        entry.name,
        encodeRow({ ...decodeRow(row), entry: encodeEntry(entry, type.fingerprint, isWhole) }),
        { recreated: false },
      );
    }
  });
}
