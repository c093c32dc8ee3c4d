import { VarintReader, varintBytesMax, writeVarint } from './varint.ts';

/**
 * Ascending positions as bytes: the first one, then the differences. Of a dense log a position takes one byte, of
 * EventStoreDB's two or three.
 */

/** A full block. One is decoded in a microsecond. */
export const blockEntriesMax = 256;

/** The positions that a term has not filled a block with yet, and the counts before them. */
export class Tail {
  /** The number of positions in full blocks. */
  readonly #sealed: number;
  #count = 0;
  #first = 0;
  #last = 0;
  #bytes: Buffer;
  #length = 0;

  constructor(sealed = 0, bytes = Buffer.allocUnsafe(varintBytesMax * 2)) {
    this.#sealed = sealed;
    this.#bytes = bytes;
  }

  get first(): number {
    return this.#first;
  }

  /** The number of all positions of the term. */
  get total(): number {
    return this.#sealed + this.#count;
  }

  isFull(): boolean {
    return this.#count >= blockEntriesMax;
  }

  /** Adds a position after the last one. False if it is the last one already. */
  add(position: number): boolean {
    if (this.#count > 0 && position === this.#last) return false;
    if (this.#count > 0 && position < this.#last)
      throw new RangeError(`position ${String(position)} is before ${String(this.#last)}`);
    if (this.#length + varintBytesMax > this.#bytes.length) this.#grow();
    this.#length = writeVarint(this.#bytes, this.#length, this.#count === 0 ? position : position - this.#last);
    if (this.#count === 0) this.#first = position;
    this.#last = position;
    this.#count += 1;
    return true;
  }

  /** The tail after this one has become a block. */
  next(): Tail {
    return new Tail(this.total);
  }

  /** Its positions, as a block has them. */
  block(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#length));
  }

  /** Its row: the number of positions in blocks, and its own positions. */
  encode(): Buffer {
    const head = Buffer.allocUnsafe(varintBytesMax);
    const length = writeVarint(head, 0, this.#sealed);
    return Buffer.concat([head.subarray(0, length), this.#bytes.subarray(0, this.#length)]);
  }

  #grow(): void {
    const larger = Buffer.allocUnsafe(this.#bytes.length * 2 + varintBytesMax);
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

/** The tail of a row. */
export function decodeTail(row: Uint8Array): Tail {
  const { total, positions } = decodeTailRow(row);
  const tail = new Tail(total - positions.length, Buffer.allocUnsafe(row.length + varintBytesMax));
  for (const position of positions) tail.add(position);
  return tail;
}

/** The positions of a tail's row, and the number of all positions of its term. */
export function decodeTailRow(row: Uint8Array): { readonly total: number; readonly positions: readonly number[] } {
  const reader = new VarintReader(row);
  const sealed = reader.next();
  const positions = positionsIn(reader);
  return { total: sealed + positions.length, positions };
}

/** The positions of a block, ascending. */
export function decodeBlock(bytes: Uint8Array): readonly number[] {
  return positionsIn(new VarintReader(bytes));
}

function positionsIn(reader: VarintReader): readonly number[] {
  const positions: number[] = [];
  let last = 0;
  while (!reader.isAtEnd()) {
    last += reader.next();
    positions.push(last);
  }
  return positions;
}
