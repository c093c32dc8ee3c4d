import { must } from '../../../../src/base/unreachable.ts';
import type { IndexEntry, IndexKey } from '../../../../src/resource/type/index-entry.ts';
import type { ColumnLayout } from './column-layout.ts';
import { decodeKeys, type KeyDictionary } from './key-dictionary.ts';
import { unpackIntegers, type Integers } from './packed-integers.ts';

/** The values of one column, by row. */
export type SegmentColumn = {
  readonly keys: KeyDictionary;
  /** The ids of the row's values are `ids[starts[row]]` up to `starts[row + 1]`. Undefined: each row has one id. */
  readonly starts: Uint32Array | undefined;
  /** The ids of the rows' values, ascending within a row. A single-valued row without a value has `keys.size`. */
  readonly ids: Integers;
};

/** A decoded segment. It has copies of the requested columns only. */
export class Segment {
  readonly ordinals: Integers;
  readonly positions: Integers;
  /** For each row: 1 if the row has an object, 0 for a deletion. */
  readonly alive: Integers;
  readonly #columns: ReadonlyMap<number, SegmentColumn>;

  /** `bytes`: a segment from `encodeSegment`. */
  constructor(bytes: Buffer, layout: readonly ColumnLayout[], wanted: Iterable<number>) {
    this.ordinals = unpackIntegers(bytes, blockAt(bytes, 0)).values;
    this.positions = positionsOf(bytes);
    this.alive = unpackIntegers(bytes, blockAt(bytes, 2)).values;
    const columns = new Map<number, SegmentColumn>();
    for (const place of wanted)
      columns.set(place, columnOf(bytes, blockAt(bytes, 3 + place), must(layout[place], 'the type has the column')));
    this.#columns = columns;
  }

  get rows(): number {
    return this.ordinals.length;
  }

  column(place: number): SegmentColumn {
    return must(this.#columns.get(place), 'a column was requested when the segment was read');
  }

  /** The number of rows up to a position. */
  rowsUpTo(position: number): number {
    let low = 0;
    let high = this.rows;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.positions[middle] ?? 0) <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function blockAt(bytes: Buffer, place: number): number {
  return place === 0 ? 4 + 4 * bytes.readUInt32LE(0) : bytes.readUInt32LE(4 * place);
}

/** The position of the first row, without decoding the others. */
export function firstPosition(bytes: Buffer): number {
  return bytes.readDoubleLE(blockAt(bytes, 1));
}

function positionsOf(bytes: Buffer): Float64Array {
  const at = blockAt(bytes, 1);
  const first = bytes.readDoubleLE(at);
  const distances = unpackIntegers(bytes, at + 8).values;
  const positions = new Float64Array(distances.length);
  for (let row = 0; row < positions.length; row++) positions[row] = first + (distances[row] ?? 0);
  return positions;
}

function columnOf(bytes: Buffer, at: number, { isText, multi }: ColumnLayout): SegmentColumn {
  const { keys, end } = decodeKeys(bytes, at, isText);
  const first = unpackIntegers(bytes, end);
  if (!multi) return { keys, starts: undefined, ids: first.values };
  const starts = new Uint32Array(first.values.length + 1);
  for (let row = 0; row < first.values.length; row++) starts[row + 1] = (starts[row] ?? 0) + (first.values[row] ?? 0);
  return { keys, starts, ids: unpackIntegers(bytes, first.end).values };
}

/** The values of a row, ascending. */
export function valuesAt({ keys, starts, ids }: SegmentColumn, row: number): readonly IndexKey[] {
  if (starts === undefined) {
    const id = ids[row] ?? keys.size;
    return id === keys.size ? [] : [keys.key(id)];
  }
  const values: IndexKey[] = [];
  for (let at = starts[row] ?? 0; at < (starts[row + 1] ?? 0); at++) values.push(keys.key(ids[at] ?? 0));
  return values;
}

/** The index entry of a row; undefined for a deletion. The segment must have all columns. */
export function entryAt(segment: Segment, row: number, columns: number): IndexEntry | undefined {
  if (segment.alive[row] !== 1) return undefined;
  const labels: Record<string, string> = {};
  for (const term of valuesAt(segment.column(columns - 1), row)) {
    const [key = '', value = ''] = String(term).split('\0');
    Object.defineProperty(labels, key, { value, enumerable: true, writable: true, configurable: true });
  }
  const keys = Array.from({ length: columns - 1 }, (_none, index) => valuesAt(segment.column(index), row));
  return { name: String(keys[0]?.[0]), created: Number(keys[1]?.[0]), labels, keys };
}
