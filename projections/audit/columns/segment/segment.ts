import { must } from '../../../../src/base/unreachable.ts';
import type { IndexEntry, IndexKey } from '../../../../src/resource/type/index-entry.ts';
import type { ColumnLayout } from './column-layout.ts';
import { decodeKeys, type KeyDictionary } from './key-dictionary.ts';
import { PackedIntegers } from './packed-integers.ts';

/** The values of one column, by row. */
export type SegmentColumn = {
  readonly keys: KeyDictionary;
  /**
   * The places of each row's ids in `ids`: from `starts.at(row)` (inclusive) to `starts.at(row + 1)` (exclusive).
   * Undefined if each row has exactly one id.
   */
  readonly starts: RowStarts | undefined;
  /** The ids of the rows' values. In a single-valued column, a row without a value has the id `keys.size`. */
  readonly ids: PackedIntegers;
};

/**
 * `at(row)` is the place of the row's first value among the values of all rows. After the last row, `at` returns the
 * number of all values.
 */
type RowStarts = { at(row: number): number | undefined };

/**
 * Encoded segments, numbered from 0. The bytes that `read` returns are valid until the next read of a table, at most in
 * this turn.
 */
export type Segments = {
  readonly count: number;
  readonly read: (number: number) => Buffer;
};

/** A segment in encoded form. `bytes` must not change while the segment is used. */
export class Segment {
  readonly ordinals: PackedIntegers;
  readonly #bytes: Buffer;
  readonly #layout: readonly ColumnLayout[];
  readonly #columns = new Map<number, SegmentColumn>();
  #alive: PackedIntegers | undefined;

  /** `bytes`: a segment from `encodeSegment`. */
  constructor(bytes: Buffer, layout: readonly ColumnLayout[]) {
    this.#bytes = bytes;
    this.#layout = layout;
    this.ordinals = new PackedIntegers(bytes, blockAt(bytes, 0));
  }

  get rows(): number {
    return this.ordinals.length;
  }

  get firstPosition(): number {
    return this.#bytes.readDoubleLE(blockAt(this.#bytes, 1));
  }

  positions(): Float64Array {
    const at = blockAt(this.#bytes, 1);
    const first = this.#bytes.readDoubleLE(at);
    const distances = new PackedIntegers(this.#bytes, at + 8);
    return Float64Array.from({ length: distances.length }, (_none, row) => first + distances.at(row));
  }

  /** For each row: 1 if the row has an object, 0 for a deletion. */
  get alive(): PackedIntegers {
    return (this.#alive ??= new PackedIntegers(this.#bytes, blockAt(this.#bytes, 2)));
  }

  column(place: number): SegmentColumn {
    let column = this.#columns.get(place);
    if (column === undefined) {
      const layout = must(this.#layout[place], 'the type has the column');
      this.#columns.set(place, (column = columnOf(this.#bytes, blockAt(this.#bytes, 3 + place), layout)));
    }
    return column;
  }

  /** A copy of a column, which stays valid when the bytes of the segment change. */
  copyOf(place: number): SegmentColumn {
    const block = Buffer.from(this.#bytes.subarray(blockAt(this.#bytes, 3 + place), blockAt(this.#bytes, 4 + place)));
    return columnOf(block, 0, must(this.#layout[place], 'the type has the column'));
  }

  rowsUpTo(position: number): number {
    const at = blockAt(this.#bytes, 1);
    const distance = position - this.#bytes.readDoubleLE(at);
    const distances = new PackedIntegers(this.#bytes, at + 8);
    let low = 0;
    let high = this.rows;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (distances.at(middle) <= distance) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function blockAt(bytes: Buffer, place: number): number {
  return place === 0 ? 4 + 4 * bytes.readUInt32LE(0) : bytes.readUInt32LE(4 * place);
}

function columnOf(bytes: Buffer, at: number, { isText, multi }: ColumnLayout): SegmentColumn {
  const { keys, end } = decodeKeys(bytes, at, isText);
  const first = new PackedIntegers(bytes, end);
  if (!multi) return { keys, starts: undefined, ids: first };
  return {
    keys,
    starts: startsOf(first),
    ids: new PackedIntegers(bytes, first.end),
  };
}

/** `counts`: the number of values of each row. */
function startsOf(counts: PackedIntegers): RowStarts {
  const { constant } = counts;
  if (constant !== undefined) return { at: (row) => row * constant };
  const starts = new Uint32Array(counts.length + 1);
  for (let row = 0; row < counts.length; row++) starts[row + 1] = (starts[row] ?? 0) + counts.at(row);
  return { at: (row) => starts[row] };
}

/** The values of a row, in the order of its ids. */
export function valuesAt({ keys, starts, ids }: SegmentColumn, row: number): readonly IndexKey[] {
  if (starts === undefined) {
    const id = ids.at(row);
    return id === keys.size ? [] : [keys.key(id)];
  }
  const values: IndexKey[] = [];
  const end = starts.at(row + 1) ?? 0;
  for (let at = starts.at(row) ?? 0; at < end; at++) values.push(keys.key(ids.at(at)));
  return values;
}

/** The index entry of a row; undefined for a deletion. `columns`: the number of columns. */
export function entryAt(segment: Segment, row: number, columns: number): IndexEntry | undefined {
  if (segment.alive.at(row) !== 1) return undefined;
  const labels: Record<string, string> = {};
  for (const term of valuesAt(segment.column(columns - 1), row)) {
    const [key = '', value = ''] = String(term).split('\0');
    Object.defineProperty(labels, key, { value, enumerable: true, writable: true, configurable: true });
  }
  const keys = Array.from({ length: columns - 1 }, (_none, index) => valuesAt(segment.column(index), row));
  return {
    name: String(keys[0]?.[0]),
    created: Number(keys[1]?.[0]),
    labels,
    keys,
  };
}
