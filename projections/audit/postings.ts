import { createHash } from 'node:crypto';

import { decodeBlock, decodeTail, decodeTailRow, Tail } from './posting-block.ts';
import type { Table } from './audit-part.ts';
import type { PositionCursor, PositionOrder } from './position-cursors.ts';

type PostingTables = {
  /** Term → tail: the positions after the last full block. */
  readonly tails: Table<Buffer, string>;
  /** `blockKey` → a full block. */
  readonly blocks: Table<Buffer, Uint8Array>;
};

/** The maximum number of tails in memory. A full tail has some hundreds of bytes. */
const tailsKeptMax = 4_096;
const termLengthMax = 300;

/** The estimated bytes of a new term in the open batch, without the text of the term. */
const addedTermBytes = 256;
/** The estimated bytes of each further position of a term. */
const addedPositionBytes = 8;

/**
 * Ascending positions by term, for example by the type of an event's object. A term consists of a character for a
 * field, then a value of the field.
 */
export class Postings {
  readonly #tables: PostingTables;
  /** The most recently written tails by key, in the order of their writes. */
  readonly #kept = new Map<string, Tail>();
  /** The positions of the open batch, by field and then by value. Two look-ups cost less than joining two texts. */
  readonly #added = new Map<string, Map<string, number[]>>();

  constructor(tables: PostingTables) {
    this.#tables = tables;
  }

  /**
   * Adds a position to a term, in memory. Positions of a term must ascend; a repeated position counts once. Returns the
   * estimated bytes in memory.
   */
  add(field: string, value: string, position: number): number {
    let values = this.#added.get(field);
    if (values === undefined) this.#added.set(field, (values = new Map<string, number[]>()));
    const positions = values.get(value);
    if (positions === undefined) {
      values.set(value, [position]);
      return addedTermBytes + 2 * value.length;
    }
    positions.push(position);
    return addedPositionBytes;
  }

  /** Writes the added positions. Call `flush` in a transaction. */
  flush(): void {
    for (const [field, values] of this.#added)
      for (const [value, positions] of values) this.#write(keyOf(field + value), positions);
    this.#added.clear();
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= tailsKeptMax) break;
      this.#kept.delete(oldest);
    }
  }

  /** Discards all positions in memory. Call `forget` after the open batch was discarded or the tables were cleared. */
  forget(): void {
    this.#kept.clear();
    this.#added.clear();
  }

  /** The positions of a term up to the last commit. */
  cursor(term: string, order: PositionOrder): PositionCursor {
    const key = keyOf(term);
    const row = this.#tables.tails.get(key);
    return new TermCursor({ blocks: this.#tables.blocks, key, order }, row);
  }

  /** The keys (`keyOf`) of the terms with a prefix, sorted. */
  terms(prefix: string): readonly string[] {
    return [...this.#tables.tails.getKeys({ start: prefix, end: `${prefix}\uffff` })];
  }

  #write(key: string, positions: readonly number[]): void {
    let tail = this.#tailOf(key);
    for (const position of positions) {
      if (tail.isFull()) {
        this.#tables.blocks.putSync(blockKey(key, tail.first), tail.block());
        tail = tail.next();
      }
      tail.add(position);
    }
    this.#tables.tails.putSync(key, tail.encode());
    this.#kept.delete(key);
    this.#kept.set(key, tail);
  }

  #tailOf(key: string): Tail {
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const row = this.#tables.tails.get(key);
    return row === undefined ? new Tail() : decodeTail(row);
  }
}

/**
 * The key of a term. A hash replaces a term that is too long for a key of LMDB. NUL is a separator in `blockKey`, so a
 * hash also replaces a term with NUL.
 */
function keyOf(term: string): string {
  if (term.length <= termLengthMax && !term.includes('\0')) return term;
  return `${term.slice(0, 1)}\u0001${createHash('sha256').update(term).digest('hex')}`;
}

/** The keys of a term's blocks sort in the order of the blocks' first positions. */
function blockKey(key: string, first: number): Buffer {
  const length = Buffer.byteLength(key);
  const bytes = Buffer.alloc(length + 9);
  bytes.write(key);
  bytes.writeUInt32BE(Math.floor(first / 2 ** 32), length + 1);
  bytes.writeUInt32BE(first % 2 ** 32, length + 5);
  return bytes;
}

type Place = {
  readonly blocks: PostingTables['blocks'];
  readonly key: string;
  readonly order: PositionOrder;
};

/**
 * The positions of one term when the cursor was created. Later commits do not affect the cursor, because the cursor has
 * a copy of the tail, and full blocks never change.
 */
class TermCursor implements PositionCursor {
  readonly size: number;
  readonly #place: Place;
  readonly #tail: readonly number[];
  /** The positions of the last block that the cursor has read. */
  #block: readonly number[] = [];

  constructor(place: Place, row: Buffer | undefined) {
    this.#place = place;
    const { total, positions } = row === undefined ? { total: 0, positions: [] } : decodeTailRow(row);
    this.size = total;
    this.#tail = positions;
  }

  seek(from: number): number | undefined {
    const { order } = this.#place;
    const [begin = Number.MAX_SAFE_INTEGER] = this.#tail;
    if (from >= begin) return found(this.#tail, from, order);
    const block = this.#blockAt(from, begin);
    if (order === 'newest') return found(block, from, order);
    return found(block, from, order) ?? this.#firstAfter(from, begin) ?? this.#tail[0];
  }

  /** Returns the positions of the last block that begins at or before `from`; empty if no block begins there. */
  #blockAt(from: number, end: number): readonly number[] {
    const [first, last] = [this.#block[0] ?? Infinity, this.#block.at(-1) ?? -Infinity];
    if (first <= from && from <= last) return this.#block;
    const { blocks, key } = this.#place;
    const start = blockKey(key, Math.min(from, end - 1));
    for (const { value } of blocks.getRange({ start, end: blockKey(key, 0), reverse: true, limit: 1 }))
      return (this.#block = decodeBlock(value));
    return [];
  }

  #firstAfter(from: number, end: number): number | undefined {
    const { blocks, key } = this.#place;
    const start = blockKey(key, from + 1);
    for (const { value } of blocks.getRange({ start, end: blockKey(key, end), limit: 1 }))
      return (this.#block = decodeBlock(value))[0];
    return undefined;
  }
}

/** The first position at `from` or after it in the given order. */
function found(positions: readonly number[], from: number, order: PositionOrder): number | undefined {
  let [low, high] = [0, positions.length];
  const limit = order === 'oldest' ? from : from + 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((positions[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return positions[order === 'oldest' ? low : low - 1];
}
