import type { Steps } from '../../../src/base/steps.ts';
import { must } from '../../../src/base/unreachable.ts';
import type { IndexEntry } from '../../../src/resource/type/index-entry.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import type { ColumnBounds } from './column-bounds.ts';
import { layoutOf, type ColumnLayout } from './segment/column-layout.ts';
import type { HeldColumns } from './query/column-query.ts';
import type { ColumnsRecord, ColumnTables, SnapshotRecord } from './column-tables.ts';
import type { ComparedColumns } from './compared-columns.ts';
import { encodeSegment } from './segment/segment-writer.ts';
import { bytesOf } from './row-chunk.ts';
import { entryAt, Segment } from './segment/segment.ts';
import { snapshotChunks, type SnapshotSource } from './snapshot-builder.ts';

/** The values of an object after a change; `entry` is undefined after a deletion. Positions are within the epoch. */
export type ChangedValues = {
  readonly position: number;
  readonly name: string;
  readonly entry: IndexEntry | undefined;
  /** The change of the number of objects. */
  readonly objects: -1 | 0 | 1;
};

type Row = Omit<ChangedValues, 'name'> & {
  readonly name: string | undefined;
  /** The estimated bytes of the row in memory. */
  readonly bytes: number;
  ordinal: number | undefined;
};

/** The maximum number of names that get ordinals in one transaction. */
const namesPerCommit = 256;

/** The columns of one type: full segments in the tables, the latest rows in memory. */
export class TypeColumns {
  readonly type: ResourceType;
  readonly layout: readonly ColumnLayout[];
  readonly #tables: ColumnTables;
  readonly #bounds: ColumnBounds;
  #record: ColumnsRecord;
  /** The rows after the full segments. */
  readonly #rows: Row[] = [];
  #bytes = 0;
  /** The position up to which no change of the type is missing. */
  #through: number;
  /** The number of objects after the changes in all rows. */
  #objects: number;

  constructor(type: ResourceType, tables: ColumnTables, bounds: ColumnBounds) {
    this.type = type;
    this.layout = layoutOf(type.indexes);
    this.#tables = tables;
    this.#bounds = bounds;
    const known = tables.record(type.key);
    this.#record = known?.fingerprint === type.fingerprint ? known : begun(type, tables, known);
    this.#through = this.#record.through;
    this.#objects = this.#record.objects;
    if (this.#record.open > 0) this.#load();
  }

  get through(): number {
    return this.#through;
  }

  /** Estimated bytes of the rows in memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds the row of a change. Changes must be added in the order of the log. */
  add({ position, name, entry, objects }: ChangedValues): void {
    this.#push({ position, name, entry, objects, bytes: bytesOf(entry), ordinal: undefined });
    this.#objects += objects;
    this.#through = position;
  }

  cover(position: number): void {
    this.#through = Math.max(this.#through, position);
  }

  isFull(): boolean {
    return this.#rows.length >= this.#bounds.segmentRows || this.#bytes >= this.#bounds.segmentBytes;
  }

  /** Writes the first rows as a full segment. Returns false, without a write, if one of the rows is after `durable`. */
  *seal(durable: number): Steps<boolean> {
    const rows = this.#rows.slice(0, this.#segmentRows());
    const last = rows.at(-1);
    if (last === undefined || last.position > durable) return false;
    const bytes = yield* this.#encoded(rows);
    const { id, sealed, changed } = this.#record;
    const counts = {
      sealed: sealed + 1,
      open: 0,
      changed: changed + rows.length,
      objects: this.#objectsAt(rows.length),
    };
    const { position } = last;
    this.#commit({ ...this.#record, ...counts, through: position, sealedThrough: position }, () => {
      this.#tables.putChanges(id, sealed, bytes);
    });
    for (const row of this.#rows.splice(0, rows.length)) this.#bytes -= row.bytes;
    return true;
  }

  /**
   * Writes the rows up to `durable` as an incomplete segment, and the position up to which the tables then have all
   * changes. Writes nothing if this position does not increase.
   */
  *flush(durable: number): Steps<undefined> {
    const rows = this.#rowsUpTo(durable);
    const through = rows.length === this.#rows.length ? Math.min(this.#through, durable) : rows.at(-1)?.position;
    if (through === undefined || through <= this.#record.through) return;
    const bytes = rows.length === 0 ? undefined : yield* this.#encoded(rows);
    const { id, sealed } = this.#record;
    this.#commit({ ...this.#record, open: rows.length, objects: this.#objectsAt(rows.length), through }, () => {
      if (bytes !== undefined) this.#tables.putChanges(id, sealed, bytes);
    });
  }

  /** Whether the full segments since the last snapshot have more rows than `changesMin` and than `#objects`. */
  needsSnapshot(): boolean {
    return this.#record.changed > Math.max(this.#objects, this.#bounds.changesMin);
  }

  /** Writes a snapshot of the objects in their state after the full segments. */
  *snapshot(): Steps<undefined> {
    const { id, sealed, sealedThrough: position } = this.#record;
    const before = this.#tables.snapshot(id, Infinity);
    let chunks = 0;
    for (const bytes of snapshotChunks(this.#snapshotSource(before, sealed), this.#bounds)) {
      if (bytes === undefined) yield;
      else this.#putChunk([id, position, chunks++], bytes);
    }
    this.#commit({ ...this.#record, changed: 0 }, () => {
      this.#tables.putSnapshot(id, { position, chunks, from: sealed });
    });
  }

  /** The source of the snapshot after `before`: the full segments of changes with numbers below `until`. */
  #snapshotSource(before: SnapshotRecord | undefined, until: number): SnapshotSource {
    const { id } = this.#record;
    const { key } = this.type;
    const from = before?.from ?? 0;
    return {
      layout: this.layout,
      before: {
        count: before?.chunks ?? 0,
        read: (number) => this.#tables.chunk(key, id, [before?.position ?? 0, number]),
      },
      changes: { count: until - from, read: (number) => this.#tables.changes(key, id, from + number) },
    };
  }

  #putChunk([id, position, chunk]: readonly [id: number, position: number, chunk: number], bytes: Buffer): void {
    this.#tables.commit(() => {
      this.#tables.putChunk(id, [position, chunk], bytes);
    });
  }

  /** Returns steps that prepare the columns, in their state in this turn, for a query at a position. */
  held(position: number): Steps<HeldColumns> {
    const { id, sealed } = this.#record;
    const { key } = this.type;
    const snapshot = this.#tables.snapshot(id, position);
    const from = snapshot?.from ?? 0;
    return this.#prepared(this.#rowsUpTo(position), {
      layout: this.layout,
      snapshot: {
        count: snapshot?.chunks ?? 0,
        read: (number) => this.#tables.chunk(key, id, [snapshot?.position ?? 0, number]),
      },
      changes: { count: sealed - from, read: (number) => this.#tables.changes(key, id, from + number) },
    });
  }

  /**
   * The state of the columns in this turn, for a comparison with the log. The state stays readable until the columns
   * are dropped.
   */
  hold(): ComparedColumns {
    const { id, sealed, open, changed, sealedThrough } = this.#record;
    const { key } = this.type;
    const tables = this.#tables;
    const snapshots = tables.snapshots(id);
    return {
      type: this.type,
      layout: this.layout,
      through: this.#through,
      sealed: { count: sealed, read: (number) => tables.changes(key, id, number) },
      open: open === 0 ? undefined : { rows: open, bytes: Buffer.from(tables.changes(key, id, sealed)) },
      latest: [...this.#rows],
      objects: this.#objects,
      changed,
      sealedThrough,
      isCurrent: () => tables.record(key)?.id === id,
      snapshots: snapshots.map(({ position, chunks, from }, index) => ({
        position,
        from,
        stored: { count: chunks, read: (number) => tables.chunk(key, id, [position, number]) },
        expected: () => snapshotChunks(this.#snapshotSource(snapshots[index - 1], from), this.#bounds),
      })),
      ordinals: tables.ordinalCount(key),
      ordinal: (name) => tables.ordinal(key, name),
      names: (after, limit) => tables.numberedNames(key, after, limit),
    };
  }

  *#prepared(rows: readonly Row[], { layout, snapshot, changes }: HeldColumns): Steps<HeldColumns> {
    const latest: Buffer[] = [];
    for (let from = 0; from < rows.length; from += this.#bounds.segmentRows)
      latest.push(yield* this.#encoded(rows.slice(from, from + this.#bounds.segmentRows)));
    const read = (number: number): Buffer =>
      number < changes.count ? changes.read(number) : must(latest[number - changes.count], 'the segment was encoded');
    return { layout, snapshot, changes: { count: changes.count + latest.length, read } };
  }

  *#encoded(rows: readonly Row[]): Steps<Buffer> {
    const unnumbered = rows.filter(({ ordinal }) => ordinal === undefined);
    for (let from = 0; from < unnumbered.length; from += namesPerCommit) {
      const some = unnumbered.slice(from, from + namesPerCommit);
      this.#tables.commit(() => {
        const ordinals = this.#tables.ordinals(
          this.type.key,
          some.map(({ name }) => name ?? ''),
        );
        for (const [index, row] of some.entries()) row.ordinal = ordinals[index];
      });
      yield;
    }
    const numbered = rows.map(({ position, entry, ordinal = 0 }) => ({ position, entry, ordinal }));
    return yield* encodeSegment(numbered, this.layout);
  }

  #commit(record: ColumnsRecord, write: () => void): void {
    this.#tables.commit(() => {
      write();
      this.#tables.putRecord(this.type.key, record);
    });
    this.#record = record;
  }

  /** The number of rows in the next full segment, which is limited in rows and bytes. */
  #segmentRows(): number {
    let bytes = 0;
    const full = this.#rows.findIndex((row, index) => {
      bytes += row.bytes;
      return index + 1 >= this.#bounds.segmentRows || bytes >= this.#bounds.segmentBytes;
    });
    return full === -1 ? this.#rows.length : full + 1;
  }

  #rowsUpTo(position: number): readonly Row[] {
    const after = this.#rows.findLastIndex((row) => row.position <= position);
    return this.#rows.slice(0, after + 1);
  }

  /** The number of objects after the first `rows` rows. */
  #objectsAt(rows: number): number {
    return this.#rows.slice(rows).reduce((count, { objects }) => count - objects, this.#objects);
  }

  #push(row: Row): void {
    this.#rows.push(row);
    this.#bytes += row.bytes;
  }

  /** Loads the rows of the incomplete segment from the tables. */
  #load(): void {
    const { id, sealed, open } = this.#record;
    const bytes = this.#tables.changes(this.type.key, id, sealed);
    const segment = new Segment(bytes, this.layout);
    const positions = segment.positions();
    for (let row = 0; row < open; row++) {
      const entry = entryAt(segment, row, this.layout.length);
      const [position = 0, ordinal] = [positions[row], segment.ordinals.at(row)];
      this.#push({ position, ordinal, entry, name: entry?.name, objects: 0, bytes: bytesOf(entry) });
    }
  }
}

/** Begins new columns of a type, and marks columns of another declaration for removal. */
function begun(
  { key, fingerprint }: ResourceType,
  tables: ColumnTables,
  before: ColumnsRecord | undefined,
): ColumnsRecord {
  let record: ColumnsRecord | undefined;
  tables.commit(() => {
    if (before !== undefined) tables.putDropped(before.id);
    const counts = { through: 0, sealed: 0, open: 0, objects: 0, changed: 0, sealedThrough: 0 };
    record = { id: tables.nextId(), fingerprint, ...counts };
    tables.putRecord(key, record);
  });
  return must(record, 'the transaction ran');
}
