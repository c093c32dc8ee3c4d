import { VarintReader, varintBytesMax, writeVarint } from './varint.ts';

/**
 * A block: ascending positions as bytes. The bytes encode the first position, then the difference of each position to
 * the previous position.
 */

/** The number of positions in a full block. */
const blockEntriesMax = 256;

/** The last positions of a term, which are not in a full block yet. */
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

  /**
   * Adds a position. Returns false, without a change, if the position equals the last position.
   *
   * @throws RangeError if the position is smaller than the last position.
   */
  add(position: number): boolean {
    if (this.#count > 0 && position === this.#last) return false;
    if (this.#count > 0 && position < this.#last)
      throw new RangeError(`cannot add position ${String(position)} after position ${String(this.#last)}`);
    if (this.#length + varintBytesMax > this.#bytes.length) this.#grow();
    this.#length = writeVarint(this.#bytes, this.#length, this.#count === 0 ? position : position - this.#last);
    if (this.#count === 0) this.#first = position;
    this.#last = position;
    this.#count += 1;
    return true;
  }

  /** Returns the empty tail that replaces this tail after its positions were stored as a full block. */
  next(): Tail {
    return new Tail(this.total);
  }

  block(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#length));
  }

  /** The encoded row of the tail: the number of positions in full blocks, then the positions of the tail. */
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

export function decodeTail(row: Uint8Array): Tail {
  const { total, positions } = decodeTailRow(row);
  const tail = new Tail(total - positions.length, Buffer.allocUnsafe(row.length + varintBytesMax));
  for (const position of positions) tail.add(position);
  return tail;
}

type TailRow = {
  readonly total: number;
  readonly positions: readonly number[];
};

/** The positions in the row of a tail, and the number of all positions of the tail's term. */
export function decodeTailRow(row: Uint8Array): TailRow {
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
