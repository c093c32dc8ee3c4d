import { hashBytes, type Hash } from '../../../src/audit/proof/merkle.ts';
import { must } from '../../../src/base/unreachable.ts';
import type { Table } from '../audit-part.ts';

/** The hashes in a row. A full tile has 16 rows; an append of one event rewrites at most 640 bytes of each level. */
export const rowEntries = 16;
const positionBytes = 8;
/** The maximum number of rows of a tile level: a tree has at most 2^33 leaves. */
const rowsMax = 2 ** 29;

/** A row that is not full. */
type Draft = { readonly key: number; readonly bytes: Buffer; length: number; isWritten: boolean };

/**
 * The hashes of a tree in tiles. Tile level 0 has the leaves, each with the position of its event; tile level n has the
 * nodes of tree level 8 n. The key of a row contains its tile level and its number.
 */
export class TreeRows {
  readonly #table: Table<Buffer, number>;
  /** The last row of each tile level, if it is not full. `flush` writes these rows. */
  readonly #drafts: (Draft | undefined)[] = [];

  constructor(table: Table<Buffer, number>) {
    this.#table = table;
  }

  /** Adds a hash to a tile level. `index` must be the next index of the level. */
  append(level: number, index: number, hash: Hash, position = 0n): void {
    const width = widthOf(level);
    const draft = this.#draftFor(level, index);
    const at = (index % rowEntries) * width;
    draft.bytes.set(hash, at);
    if (level === 0) draft.bytes.writeBigUInt64BE(position, at + hashBytes);
    draft.length = at + width;
    draft.isWritten = false;
    if (draft.length === rowEntries * width) {
      this.#write(draft);
      this.#drafts[level] = undefined;
    }
  }

  /** Writes the rows that are not full, within the caller's transaction. The next append continues these rows. */
  flush(): void {
    for (const draft of this.#drafts) if (draft !== undefined) this.#write(draft);
  }

  /** Discards the rows in memory. Call it after the table was rolled back or cleared. */
  forget(): void {
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

  /** The position that was appended with a leaf. */
  positionOf(index: number): bigint {
    const row = must(this.#table.get(keyOf(0, index)), `leaf ${String(index)} is in the tree`);
    return row.readBigUInt64BE((index % rowEntries) * widthOf(0) + hashBytes);
  }

  #draftFor(level: number, index: number): Draft {
    const draft = this.#drafts[level];
    if (draft !== undefined) return draft;
    const key = keyOf(level, index);
    const bytes = Buffer.allocUnsafe(rowEntries * widthOf(level));
    const before = index % rowEntries === 0 ? undefined : this.#table.get(key);
    before?.copy(bytes);
    const begun = { key, bytes, length: 0, isWritten: true };
    this.#drafts[level] = begun;
    return begun;
  }

  #write(draft: Draft): void {
    if (draft.isWritten) return;
    this.#table.putSync(draft.key, draft.bytes.subarray(0, draft.length));
    draft.isWritten = true;
  }
}

function widthOf(level: number): number {
  return level === 0 ? hashBytes + positionBytes : hashBytes;
}

/** The tile level and the number of the row with a key, and the bytes of each entry of the row. */
export function rowPlace(key: number): { readonly level: number; readonly row: number; readonly width: number } {
  const level = Math.floor(key / rowsMax);
  return { level, row: key % rowsMax, width: widthOf(level) };
}

function keyOf(level: number, index: number): number {
  const row = Math.floor(index / rowEntries);
  if (row >= rowsMax) throw new RangeError(`a tree has at most ${String(rowsMax * rowEntries)} leaves`);
  return level * rowsMax + row;
}
