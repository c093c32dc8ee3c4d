import { createHash } from 'node:crypto';

import { decodeBlock, decodeTail, decodeTailRow, Tail } from './posting-block.ts';
import type { Table } from './audit-part.ts';
import type { PositionCursor, PositionOrder } from './position-cursors.ts';

/** The tables that hold postings. */
type PostingTables = {
  /** Term → tail: the last positions of the term, at most a block, and the number of the positions before them. */
  readonly tails: Table<Buffer, string>;
  /** `blockKey` → a full block. */
  readonly blocks: Table<Buffer, Uint8Array>;
};

/** The maximum number of tails in memory. A full tail has some hundreds of bytes. */
const tailsKeptMax = 4_096;
const termLengthMax = 300;

/**
 * Ascending positions by term, for example by the type of an event's object. Writes belong to the caller's
 * transaction; `cursor` reads the last commit.
 */
export class Postings {
  readonly #tables: PostingTables;
  /** The tails used last, oldest first. */
  readonly #kept = new Map<string, Tail>();
  readonly #changed = new Map<string, Tail>();

  constructor(tables: PostingTables) {
    this.#tables = tables;
  }

  /** Adds a position to a term. Positions of a term must ascend; a repeated position counts once. */
  add(term: string, position: number): void {
    const key = keyOf(term);
    let tail = this.#changed.get(key) ?? this.#tailOf(key);
    if (tail.isFull()) {
      this.#tables.blocks.putSync(blockKey(key, tail.first), tail.block());
      tail = tail.next();
    }
    if (tail.add(position)) this.#changed.set(key, tail);
  }

  /** Writes the changed tails; call it at the end of each transaction. */
  flush(): void {
    for (const [key, tail] of this.#changed) {
      this.#tables.tails.putSync(key, tail.encode());
      this.#kept.delete(key);
      this.#kept.set(key, tail);
    }
    this.#changed.clear();
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= tailsKeptMax) break;
      this.#kept.delete(oldest);
    }
  }

  /** Discards all tails in memory. Call it after the tables were rolled back or cleared. */
  forget(): void {
    this.#kept.clear();
    this.#changed.clear();
  }

  /** The positions of a term up to the last commit. */
  cursor(term: string, order: PositionOrder): PositionCursor {
    const key = keyOf(term);
    const row = this.#tables.tails.get(key);
    return new TermCursor({ blocks: this.#tables.blocks, key, order }, row);
  }

  /** The terms with a prefix, sorted. A term of more than 300 characters is not among them. */
  terms(prefix: string): readonly string[] {
    return [...this.#tables.tails.getKeys({ start: prefix, end: `${prefix}\uffff` })];
  }

  #tailOf(key: string): Tail {
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const row = this.#tables.tails.get(key);
    return row === undefined ? new Tail() : decodeTail(row);
  }
}

/**
 * The key of a term. A hash replaces a term that is too long for a key of LMDB, or that contains NUL: in the keys of
 * blocks, NUL separates the term from the position.
 */
function keyOf(term: string): string {
  if (term.length <= termLengthMax && !term.includes('\0')) return term;
  return `${term.slice(0, 1)}\u0001${createHash('sha256').update(term).digest('hex')}`;
}

/** The key of a block. The blocks of a term are in the order of their first positions. */
function blockKey(key: string, first: number): Buffer {
  const length = Buffer.byteLength(key);
  const bytes = Buffer.alloc(length + 9);
  bytes.write(key);
  bytes.writeUInt32BE(Math.floor(first / 2 ** 32), length + 1);
  bytes.writeUInt32BE(first % 2 ** 32, length + 5);
  return bytes;
}

type Place = { readonly blocks: PostingTables['blocks']; readonly key: string; readonly order: PositionOrder };

/**
 * The positions of one term as of the creation of the cursor. This state stays readable: blocks never change, and later
 * blocks begin at the tail or behind it.
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

  /** The positions of the last block that begins at or before `from`; empty if there is no such block. */
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
    for (const { value } of blocks.getRange({ start: blockKey(key, from + 1), end: blockKey(key, end), limit: 1 }))
      return (this.#block = decodeBlock(value))[0];
    return undefined;
  }
}

/** The first position at `from` or behind it in the given order. */
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
