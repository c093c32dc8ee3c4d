/**
 * Whole numbers from 0 to 2^53 - 1 as bytes. Each byte has seven bits of the number, the lowest bits first. The high
 * bit of a byte is set if another byte follows.
 */

const bits = 7;
const radix = 2 ** bits;
const more = 0x80;

/** The number of bytes of the largest number. */
export const varintBytesMax = 8;

/**
 * Writes `value` at `offset`, and returns the offset after the written bytes.
 *
 * @throws RangeError unless `value` is a whole number from 0 to 2^53 - 1.
 */
export function writeVarint(bytes: Uint8Array, offset: number, value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`cannot store the number ${String(value)}`);
  let [at, rest] = [offset, value];
  for (; rest >= radix; rest = Math.floor(rest / radix)) {
    bytes[at] = (rest % radix) | more;
    at += 1;
  }
  bytes[at] = rest;
  return at + 1;
}

export class VarintReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** @throws RangeError at the end of the bytes. */
  next(): number {
    let [value, factor] = [0, 1];
    for (;;) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw new RangeError('a stored number is truncated');
      this.#at += 1;
      value += (byte % more) * factor;
      if (byte < more) return value;
      factor *= radix;
    }
  }
}
