import type { Steps } from '../../src/base/steps.ts';
import type { Difference } from '../../src/read/replay.ts';
import type { IndexEntry, IndexKey } from '../../src/resource/type/index-entry.ts';
import type { ComparedColumns } from '../audit/columns/compared-columns.ts';
import { encodeSegment } from '../audit/columns/segment/segment-writer.ts';
import { Segment, valuesAt } from '../audit/columns/segment/segment.ts';
import type { ChangedValues } from '../audit/columns/type-columns.ts';
import { differenceOfBytes } from './differing-bytes.ts';

/**
 * The rows of a full segment, or the rows in memory, which follow all full segments. The rows in memory have no
 * `bytes`.
 */
type Part = {
  readonly label: string;
  readonly positions: ArrayLike<number>;
  readonly bytes: Buffer | undefined;
};

/** A row that follows from the log. `ordinal` is undefined if the name has no ordinal. */
type ExpectedRow = {
  readonly position: number;
  readonly name: string;
  readonly ordinal: number | undefined;
  readonly entry: IndexEntry | undefined;
};

/** The values of a row, by column. */
type StoredRow = {
  readonly ordinal: number | undefined;
  readonly isAlive: boolean;
  readonly values: readonly (readonly IndexKey[])[];
};

type SealedRows = {
  readonly changed: number;
  readonly through: number;
};

/** The stored changes of a type's columns in the order of the log, with the rows that follow from the log. */
export class StoredRows {
  readonly #columns: ComparedColumns;
  readonly #inLog: (within: number) => bigint;
  /** The number of the next part to load. */
  #next = 0;
  #part: Part | undefined;
  /** The rows that follow from the log, for the first rows of the part. */
  #expected: ExpectedRow[] = [];
  #rows = 0;
  #sealed = { changed: 0, through: 0 };

  /** `inLog` converts a position within the epoch to a position of the log. */
  constructor(columns: ComparedColumns, inLog: (within: number) => bigint) {
    this.#columns = columns;
    this.#inLog = inLog;
  }

  /** The number of compared rows. */
  get rows(): number {
    return this.#rows;
  }

  /** Of the compared full segments: the number of rows since the last snapshot, and the position of the last row. */
  get sealed(): SealedRows {
    return this.#sealed;
  }

  /**
   * Returns a difference if a stored row before `position` follows from no event of the log, or if the next segment
   * cannot be read.
   */
  before(position: number): Difference | undefined {
    const unreadable = this.#part === undefined ? this.#load() : undefined;
    if (unreadable !== undefined) return unreadable;
    const next = this.#part?.positions[this.#expected.length];
    if (next === undefined || next >= position) return undefined;
    const detail = `the columns have a row at ${this.#place(next)}, but the log has no change of an object there`;
    return { table: this.#table(), key: this.#part?.label ?? '', detail };
  }

  /** Whether the next stored row has this position. */
  isNext(position: number): boolean {
    return this.#part?.positions[this.#expected.length] === position;
  }

  /** Adds the row of an event. `isNext` must be true for the position of the event. */
  expect({ position, name, entry }: ChangedValues): void {
    this.#expected.push({ position, name, entry, ordinal: this.#columns.ordinal(name) });
  }

  /** Whether a row was added for each stored row of the part. */
  isComplete(): boolean {
    return this.#part !== undefined && this.#expected.length === this.#part.positions.length;
  }

  /** Compares a complete part and returns its first difference. Then begins the next part. */
  *compare(): Steps<Difference | undefined> {
    const [part, rows] = [this.#part, this.#expected];
    [this.#part, this.#expected] = [undefined, []];
    this.#rows += rows.length;
    if (part === undefined) return undefined;
    if (part.bytes !== undefined) {
      const isNew = this.#next > (this.#columns.snapshots.at(-1)?.from ?? 0);
      this.#sealed = {
        changed: this.#sealed.changed + (isNew ? rows.length : 0),
        through: rows.at(-1)?.position ?? 0,
      };
      return yield* this.#segmentProblem(part.bytes, rows, part.label);
    }
    const { open } = this.#columns;
    const inSegment = rows.slice(0, open?.rows ?? 0);
    const stored = open && (yield* this.#segmentProblem(open.bytes, inSegment, 'the last segment'));
    return stored ?? (yield* this.#latestProblem(rows));
  }

  #load(): Difference | undefined {
    const { sealed, latest, layout } = this.#columns;
    const number = this.#next;
    this.#next += 1;
    if (number > sealed.count) return undefined;
    if (number === sealed.count) {
      this.#part = {
        label: 'the rows in memory',
        positions: latest.map(({ position }) => position),
        bytes: undefined,
      };
      return undefined;
    }
    const label = `segment ${String(number)}`;
    const bytes = Buffer.from(sealed.read(number));
    const positions = readable(() => new Segment(bytes, layout).positions());
    if (positions === undefined || positions.length === 0)
      return { table: this.#table(), key: label, detail: 'the segment cannot be read' };
    this.#part = { label, positions, bytes };
    return undefined;
  }

  *#segmentProblem(bytes: Buffer, rows: readonly ExpectedRow[], label: string): Steps<Difference | undefined> {
    const { layout } = this.#columns;
    const unnumbered = rows.find(({ ordinal }) => ordinal === undefined);
    if (unnumbered !== undefined) return this.#at(unnumbered, 'the name has no ordinal');
    const numbered = rows.map((row) => ({ ...row, ordinal: row.ordinal ?? 0 }));
    const expected = yield* encodeSegment(numbered, layout);
    if (bytes.equals(expected)) return undefined;
    const segment = new Segment(bytes, layout);
    for (const [index, row] of rows.entries()) {
      const stored = readable(() => storedRow(segment, index, layout.length));
      if (stored === undefined) return this.#at(row, 'the row cannot be read');
      const found = this.#rowProblem(row, stored);
      if (found !== undefined) return found;
      yield;
    }
    return {
      table: this.#table(),
      key: label,
      detail: differenceOfBytes(bytes, expected) ?? '',
    };
  }

  *#latestProblem(rows: readonly ExpectedRow[]): Steps<Difference | undefined> {
    for (const [index, row] of rows.entries()) {
      const latest = this.#columns.latest[index];
      const isOfName = latest?.name === undefined || latest.name === row.name;
      if (!isOfName) return this.#at(row, 'the row in memory belongs to another object');
      const { entry, ordinal = row.ordinal } = latest ?? {};
      const values = this.#columns.layout.map(({ valuesOf }) => (entry === undefined ? [] : valuesOf(entry)));
      const found = this.#rowProblem(row, { ordinal, isAlive: entry !== undefined, values });
      if (found !== undefined) return found;
      yield;
    }
    return undefined;
  }

  #rowProblem(row: ExpectedRow, stored: StoredRow): Difference | undefined {
    if (stored.ordinal !== row.ordinal) return this.#at(row, 'the row belongs to another name');
    if (stored.isAlive !== (row.entry !== undefined))
      return this.#at(
        row,
        stored.isAlive
          ? 'the row says that the object exists, but it is deleted'
          : 'the row says that the object is deleted, but it exists',
      );
    const { layout, type } = this.#columns;
    const differing = layout.findIndex(({ valuesOf }, place) => {
      const expected = row.entry === undefined ? [] : valuesOf(row.entry);
      return !areEqual(stored.values[place] ?? [], expected);
    });
    if (differing === -1) return undefined;
    const column = type.indexes[differing]?.name ?? 'metadata.labels';
    return { ...this.#at(row, 'the values differ'), table: `column ${column} of ${type.key}` };
  }

  #at({ position, name }: ExpectedRow, detail: string): Difference {
    return {
      table: this.#table(),
      key: name,
      detail: `${detail}, at ${this.#place(position)}`,
    };
  }

  #place(position: number): string {
    return `position ${this.#inLog(position).toString()}`;
  }

  #table(): string {
    return `columns of ${this.#columns.type.key}`;
  }
}

function storedRow(segment: Segment, row: number, columns: number): StoredRow {
  const isAlive = segment.alive.at(row) === 1;
  const valuesIn = (place: number): readonly IndexKey[] => (isAlive ? valuesAt(segment.column(place), row) : []);
  return {
    ordinal: segment.ordinals.at(row),
    isAlive,
    values: Array.from({ length: columns }, (_, place) => valuesIn(place)),
  };
}

function areEqual(one: readonly IndexKey[], other: readonly IndexKey[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}

/** Returns the result of reading a segment; undefined if the bytes are damaged. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
