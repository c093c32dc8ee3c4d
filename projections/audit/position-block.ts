import { VarintReader, varintBytesMax, writeVarint } from './varint.ts';

/**
 * A block: ascending numbers below 2^53 as bytes. The bytes encode the first number, then the difference of each number
 * to the previous number.
 */

/** The end of a block: the count of its numbers, and the last number. */
type BlockEnd = {
  readonly count: number;
  readonly last: number;
};

export function endOf(block: Uint8Array): BlockEnd {
  const reader = new VarintReader(block);
  let [count, last] = [0, 0];
  for (; !reader.isAtEnd(); count += 1) last += reader.next();
  return { count, last };
}

/**
 * The block with `numbers` appended.
 *
 * @throws RangeError unless each number is greater than the previous number.
 */
export function extended(block: Uint8Array, end: BlockEnd, numbers: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(block.length + numbers.length * varintBytesMax);
  bytes.set(block);
  let [at, { last }] = [block.length, end];
  for (const [index, number] of numbers.entries()) {
    if (number <= last && end.count + index > 0)
      throw new RangeError(`cannot append position ${String(number)} to a block that ends with ${String(last)}`);
    at = writeVarint(bytes, at, number - last);
    last = number;
  }
  return bytes.subarray(0, at);
}

/** @throws RangeError for an empty block. */
export function firstIn(block: Uint8Array): number {
  return new VarintReader(block).next();
}

/** The number at an index, which counts from 0; undefined after the end of the block. */
export function numberAt(block: Uint8Array, index: number): number | undefined {
  const reader = new VarintReader(block);
  let number = 0;
  for (let left = index; left >= 0; left -= 1) {
    if (reader.isAtEnd()) return undefined;
    number += reader.next();
  }
  return number;
}

/** Returns the number of values in the block that are at most `limit`. */
export function countUpTo(block: Uint8Array, limit: number): number {
  const reader = new VarintReader(block);
  let count = 0;
  for (let number = 0; !reader.isAtEnd(); count += 1) {
    number += reader.next();
    if (number > limit) break;
  }
  return count;
}
