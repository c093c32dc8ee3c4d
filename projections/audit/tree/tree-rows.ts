import { hashBytes, type Hash } from '../../../src/audit/proof/merkle.ts';
import { must } from '../../../src/base/unreachable.ts';
import type { Table } from '../audit-part.ts';

/**
 * Every fourth level of the tree is stored: the levels of the tiles (0, 8, 16, …), and the levels halfway between.
 * Without the levels halfway between, a proof within a tile would need all 256 hashes of the tile.
 */
export const rowHeight = 4;
/** The number of hashes in a row. */
export const rowEntries = 2 ** rowHeight;
const positionBytes = 8;
/** The maximum number of rows of leaves. A tree therefore has at most 2^33 leaves. */
const leafRowsMax = 2 ** 29;
/** The maximum number of rows of each other stored level. The keys of all rows fit into 32 bits. */
const nodeRowsMax = leafRowsMax / rowEntries;

/** A row in memory. `from`: the offset in `bytes` before which only the table has the bytes. */
type Draft = {
  readonly key: number;
  readonly bytes: Buffer;
  from: number;
  length: number;
  isWritten: boolean;
};

/**
 * The stored nodes of a tree: the levels that are multiples of `rowHeight`. Level 0 has the leaves, each with the
 * position of its event.
 */
export class TreeRows {
  readonly #table: Table<Buffer, number>;
  /** The last row of each stored level, if the row is not full. */
  readonly #drafts: (Draft | undefined)[] = [];
  /** The full rows that are not written yet. */
  readonly #full: Draft[] = [];

  constructor(table: Table<Buffer, number>) {
    this.#table = table;
  }

  /**
   * Adds a hash to a level, in memory, and returns the number of added bytes. `index` must be the next index of the
   * level. `position`: the position of a leaf's event within the epoch.
   */
  append(level: number, index: number, hash: Hash, position: number): number {
    const width = widthOf(level);
    const at = (index % rowEntries) * width;
    const draft = (this.#drafts[level / rowHeight] ??= begunDraft(keyOf(level, index), at, width));
    draft.bytes.set(hash, at);
    if (level === 0) writePosition(draft.bytes, at + hashBytes, position);
    draft.length = at + width;
    draft.isWritten = false;
    if (draft.length === rowEntries * width) {
      this.#full.push(draft);
      this.#drafts[level / rowHeight] = undefined;
    }
    return width;
  }

  /** Writes the changed rows. Call `flush` in a transaction. */
  flush(): void {
    for (const draft of this.#full.splice(0)) this.#write(draft);
    for (const draft of this.#drafts) if (draft !== undefined) this.#write(draft);
  }

  /** Discards the rows in memory. Call `forget` after the open batch was discarded or the table was cleared. */
  forget(): void {
    this.#full.length = 0;
    this.#drafts.length = 0;
  }

  /** Up to `count` hashes from index `first` on, concatenated. The result ends before the first missing hash. */
  hashes(level: number, first: number, count: number): Buffer {
    const width = widthOf(level);
    const found = Buffer.allocUnsafe(count * hashBytes);
    let length = 0;
    let row: Buffer | undefined;
    for (let index = first; index < first + count; index += 1) {
      if (row === undefined || index % rowEntries === 0) row = this.#table.get(keyOf(level, index));
      const at = (index % rowEntries) * width;
      if (row === undefined || row.length < at + width) break;
      length += row.copy(found, length, at, at + hashBytes);
    }
    return found.subarray(0, length);
  }

  /** The position of a leaf's event, within the epoch. */
  positionOf(index: number): bigint {
    const row = must(this.#table.get(keyOf(0, index)), `leaf ${String(index)} is in the tree`);
    return row.readBigUInt64BE((index % rowEntries) * widthOf(0) + hashBytes);
  }

  #write(draft: Draft): void {
    if (draft.isWritten) return;
    if (draft.from > 0) {
      const copied = this.#table.get(draft.key)?.copy(draft.bytes, 0, 0, draft.from);
      if (copied !== draft.from) throw new Error(`row ${String(draft.key)} of the tree lacks its first hashes`);
      draft.from = 0;
    }
    this.#table.putSync(draft.key, draft.bytes.subarray(0, draft.length));
    draft.isWritten = true;
  }
}

function begunDraft(key: number, from: number, width: number): Draft {
  return {
    key,
    bytes: Buffer.allocUnsafe(rowEntries * width),
    from,
    length: 0,
    isWritten: true,
  };
}

/** Writes a position as eight bytes, big-endian. */
function writePosition(bytes: Buffer, at: number, position: number): void {
  bytes.writeUInt32BE(Math.floor(position / 2 ** 32), at);
  bytes.writeUInt32BE(position % 2 ** 32, at + 4);
}

function widthOf(level: number): number {
  return level === 0 ? hashBytes + positionBytes : hashBytes;
}

type RowPlace = {
  readonly level: number;
  readonly row: number;
  readonly width: number;
};

/** Returns the level and the number of the row with `key`, and the number of bytes of each entry of the row. */
export function rowPlace(key: number): RowPlace {
  if (key < leafRowsMax) return { level: 0, row: key, width: widthOf(0) };
  const place = key - leafRowsMax;
  const level = (Math.floor(place / nodeRowsMax) + 1) * rowHeight;
  return { level, row: place % nodeRowsMax, width: widthOf(level) };
}

function keyOf(level: number, index: number): number {
  const row = Math.floor(index / rowEntries);
  if (row >= (level === 0 ? leafRowsMax : nodeRowsMax))
    throw new RangeError(`a tree has at most ${String(leafRowsMax * rowEntries)} leaves`);
  return level === 0 ? row : leafRowsMax + (level / rowHeight - 1) * nodeRowsMax + row;
}
