import type { Steps } from '../../../../src/base/steps.ts';
import type { IndexEntry, IndexKey } from '../../../../src/resource/type/index-entry.ts';
import { encodeKeys } from './key-dictionary.ts';
import type { ColumnLayout } from './column-layout.ts';
import { packIntegers } from './packed-integers.ts';

/** The values of an object from a position on. `entry` is undefined if the object was deleted at the position. */
export type ValueRow = {
  /** The position within the epoch; 0 in a snapshot. */
  readonly position: number;
  /** The number of the object's name among the names of the type. */
  readonly ordinal: number;
  readonly entry: IndexEntry | undefined;
};

/**
 * Encodes rows by column, little-endian: the number of blocks (`u32`), the end of each block (`u32`), and the blocks.
 * The blocks, in order:
 *
 * - the ordinals
 * - the positions: the first as `f64`, then the distance of each row to the first
 * - for each row, 1 if the row has an object, or 0 for a deletion
 * - one block for each column, which starts with the dictionary of the column's keys
 *
 * In a single-valued column, the id of each row follows. A row without a value has the dictionary's size as its id. In
 * a multi-valued column, the number of values of each row follows, then the ids of all values.
 */
export function* encodeSegment(rows: readonly ValueRow[], layout: readonly ColumnLayout[]): Steps<Buffer> {
  const first = rows[0]?.position ?? 0;
  const base = Buffer.allocUnsafe(8);
  base.writeDoubleLE(first);
  const blocks = [
    packIntegers(rows.map(({ ordinal }) => ordinal)),
    Buffer.concat([base, packIntegers(rows.map(({ position }) => position - first))]),
    packIntegers(rows.map(({ entry }) => Number(entry !== undefined))),
  ];
  for (const column of layout) {
    yield;
    blocks.push(yield* encodeColumn(rows, column));
  }
  return joined(blocks);
}

function joined(blocks: readonly Buffer[]): Buffer {
  const head = Buffer.allocUnsafe(4 + 4 * blocks.length);
  head.writeUInt32LE(blocks.length);
  let end = head.length;
  for (const [index, block] of blocks.entries()) {
    end += block.length;
    head.writeUInt32LE(end, 4 + 4 * index);
  }
  return Buffer.concat([head, ...blocks]);
}

function* encodeColumn(rows: readonly ValueRow[], { isText, multi, valuesOf }: ColumnLayout): Steps<Buffer> {
  const found = new Found();
  const counts: number[] = [];
  for (const [index, { entry }] of rows.entries()) {
    const values = entry === undefined ? noValues : valuesOf(entry);
    counts.push(values.length);
    for (const value of values) found.add(value);
    if (index % 256 === 255) yield;
  }
  const { keys, ids } = yield* found.ranked();
  const dictionary = yield* encodeKeys(keys, isText);
  if (multi) return Buffer.concat([dictionary, packIntegers(counts), packIntegers(ids)]);
  let next = 0;
  const single = counts.map((count) => (count === 0 ? keys.length : (ids[next++] ?? 0)));
  return Buffer.concat([dictionary, packIntegers(single)]);
}

/**
 * Returns the keys in ascending order. Texts are sorted without a comparator: the engine's default order is the same,
 * and several times as fast.
 */
function sorted(keys: readonly IndexKey[]): readonly IndexKey[] {
  return typeof keys[0] === 'string' ? keys.toSorted() : [...Float64Array.from(keys, Number).sort()];
}

const noValues: readonly IndexKey[] = Object.freeze([]);

type EncodedKeys = {
  readonly keys: readonly IndexKey[];
  readonly ids: Uint32Array;
};

/** The values of a column in the order of rows. */
class Found {
  readonly #places = new Map<IndexKey, number>();
  readonly #found: number[] = [];

  add(value: IndexKey): void {
    let place = this.#places.get(value);
    if (place === undefined) this.#places.set(value, (place = this.#places.size));
    this.#found.push(place);
  }

  /** Returns the distinct values in order (`keys`), and the place in `keys` of each added value (`ids`). */
  *ranked(): Steps<EncodedKeys> {
    const keys = sorted([...this.#places.keys()]);
    yield;
    const rankOf = new Uint32Array(keys.length);
    for (let rank = 0; rank < keys.length; rank++) rankOf[this.#places.get(keys[rank] ?? '') ?? 0] = rank;
    const ids = new Uint32Array(this.#found.length);
    for (let at = 0; at < ids.length; at++) ids[at] = rankOf[this.#found[at] ?? 0] ?? 0;
    return { keys, ids };
  }
}
