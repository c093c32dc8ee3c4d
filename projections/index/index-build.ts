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
import { decodeRow, encodeRow, formOf, sourceOfRow } from '../row.ts';
import { buildTypeIndex, type TypeIndex } from './type-index.ts';

/** Records the changes of objects that an index build has already read. The build reads all other objects later. */
export class IndexCatchUp {
  /** The latest state of each changed object; undefined if the object was deleted. */
  readonly #missed = new Map<string, IndexEntry | undefined>();
  /** The last name that was read; undefined before the first read. Names are read in ascending order. */
  #reached: string | undefined;

  advance(name: string): void {
    this.#reached = name;
  }

  /** Call `finish` after all rows are read, so that every further change is recorded. */
  finish(): void {
    this.#reached = '\uffff';
  }

  note({ name, after }: Pick<Change, 'name' | 'after'>): void {
    if (this.#reached !== undefined && name <= this.#reached) this.#missed.set(name, after);
  }

  /** Applies recorded changes until `isOver` returns true. Returns whether all changes are applied. */
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

/** The maximum number of rows in one slice. */
const sliceRows = listSliceObjectsMax * 4;

type Stale = {
  readonly entry: IndexEntry;
  readonly isWhole: boolean;
  /** The response in the form of the present declaration; undefined if the response equals the source. */
  readonly answer: Buffer | undefined;
};

export type Build = {
  readonly slices: Slices;
  readonly catchUp: IndexCatchUp;
  /** The number of stored objects for which an index function fails, and the details of the first failure. */
  readonly unindexed: { -readonly [Member in keyof Unindexed]: Unindexed[Member] };
  readonly onProgress?: BuildProgress | undefined;
  /** Returns the number of rows of the other types with ready indexes, by which the size of this build is estimated. */
  readonly others: () => number;
  /** Returns false if the type was stopped or a new build of the type has started. */
  readonly isWanted: () => boolean;
};

/** Builds the index of a type in slices. Resolves with undefined if the build was cancelled. */
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

/** The minimum number of rows for a progress report. A smaller build is fast. */
const reportedRowsMin = sliceRows * 8;

/** Yields the entries of one slice at a time, so that the caller can run other work. */
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

type ReadSlice = {
  readonly entries: readonly IndexEntry[];
  readonly stale: readonly Stale[];
};

/** Reads at most `sliceRows` rows. Stops earlier when the time slice is over, since index functions may be slow. */
function readSlice(
  type: ResourceType,
  tables: LmdbTables,
  { after, unindexed, slices }: Build & { readonly after: string | undefined },
): ReadSlice {
  const entries: IndexEntry[] = [];
  const stale: Stale[] = [];
  tables.scan(type.key, { after, limit: sliceRows }, (row) => {
    const missing = unindexed.count;
    const kept = keptEntry(row, type, (error) => {
      unindexed.count += 1;
      unindexed.problem ??= error.message;
      unindexed.trace ??= error.trace;
    });
    const { entry } = kept;
    if (unindexed.count > missing) unindexed.first ??= entry.name;
    entries.push(entry);
    if (!kept.current) stale.push({ entry, isWhole: unindexed.count === missing, answer: kept.answer });
    return !slices.isOver();
  });
  return { entries, stale };
}

/** Replaces rows without a complete index entry of the present declaration, for the next start. */
function refresh(type: ResourceType, tables: LmdbTables, stale: readonly Stale[]): void {
  tables.commit((writer) => {
    for (const { entry, isWhole, answer } of stale) {
      const row = must(tables.row(type.key, entry.name), 'a row read in this turn exists');
      const source = sourceOfRow(row);
      const present = {
        ...decodeRow(row),
        ...formOf(source, answer ?? source),
        entry: encodeEntry(entry, type.fingerprint, isWhole),
      };
      writer.putRow(type.key, entry.name, encodeRow(present), { recreated: false });
    }
  });
}
