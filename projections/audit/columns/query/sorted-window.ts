import { strideMax, type Steps } from '../../../../src/base/steps.ts';

/** Returns a negative number if `a` is before `b`. Must not return 0 for two different numbers. */
type Compare = (a: number, b: number) => number;

/** The maximum size of a part that is sorted in one step. */
const sortedAtOnce = 256;

/** Sorts `order` until its places from `from` to `to` (exclusive) are final. */
export function* sortWindow(order: Uint32Array, from: number, to: number, compare: Compare): Steps<undefined> {
  const parts: (readonly [low: number, high: number])[] = [[0, order.length]];
  let done = 0;
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    const [low, high] = part;
    if (high <= from || low >= to || high - low < 2) continue;
    if (high - low <= sortedAtOnce) {
      order.subarray(low, high).sort(compare);
      done += sortedAtOnce;
    } else {
      const cut = yield* partition(order, low, high, compare);
      parts.push([low, cut], [cut, high]);
    }
    if (done < strideMax) continue;
    done = 0;
    yield;
  }
}

/**
 * Returns a place so that no number before the place sorts after the pivot, and no number from the place on sorts
 * before the pivot. Neither side is empty.
 */
function* partition(order: Uint32Array, low: number, high: number, compare: Compare): Steps<number> {
  const pivot = order[low + (mixed(low + high) % (high - 1 - low))] ?? 0;
  let left = low - 1;
  let right = high;
  let next = strideMax;
  for (;;) {
    do left += 1;
    while (compare(order[left] ?? 0, pivot) < 0);
    do right -= 1;
    while (compare(order[right] ?? 0, pivot) > 0);
    if (left >= right) return right + 1;
    [order[left], order[right]] = [order[right] ?? 0, order[left] ?? 0];
    if (left - low + high - right < next) continue;
    next += strideMax;
    yield;
  }
}

/**
 * A pseudorandom number from a seed, to choose a pivot. Pivots at fixed places would split some usual orders unevenly.
 */
function mixed(seed: number): number {
  const scattered = Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d);
  return (scattered ^ (scattered >>> 12)) >>> 0;
}
