/**
 * Collects a body. Does not copy the first chunk, which usually is the whole body. Copies further chunks into one
 * buffer, because each separate chunk of one byte would take hundreds of bytes.
 */
export class BodyBuffer {
  readonly #bytesMax: number;
  #buffer: Buffer = empty;
  #length = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Returns the additional memory that `add` would take, in bytes. */
  growthFor(piece: Buffer): number {
    const length = this.#length + piece.length;
    return length <= this.#buffer.length ? 0 : this.#capacityFor(length) - this.#buffer.length;
  }

  /** The total must not exceed `bytesMax`. */
  add(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (this.#length === 0) {
      this.#buffer = piece;
    } else {
      if (length > this.#buffer.length) this.#grow(this.#capacityFor(length));
      piece.copy(this.#buffer, this.#length);
    }
    this.#length = length;
  }

  bytes(): Buffer {
    return this.#buffer.length === this.#length ? this.#buffer : this.#buffer.subarray(0, this.#length);
  }

  #capacityFor(length: number): number {
    return this.#length === 0 ? length : Math.min(this.#bytesMax, Math.max(2 * length, smallestCopy));
  }

  #grow(capacity: number): void {
    const grown = Buffer.allocUnsafeSlow(capacity);
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}

const empty = Buffer.alloc(0);
const smallestCopy = 1_024;
