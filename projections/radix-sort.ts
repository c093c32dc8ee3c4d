import { inStrides, type Steps } from '../src/base/steps.ts';

/** Numbers (`order`), each with a key of 64 bits: the upper 32 bits in `high`, the lower 32 bits in `low`. */
export type RadixKeys = {
  readonly high: Uint32Array;
  readonly low: Uint32Array;
  readonly order: Uint32Array;
};

/**
 * The number of bits in a digit. Wider digits need fewer passes, but their writes go to more places than the CPU cache
 * has lines.
 */
const digitBits = 8;
const digits = 1 << digitBits;

/** A stable sort by `high`, then by `low`. */
export function* radixSorted(keys: RadixKeys): Steps<RadixKeys> {
  let from = keys;
  let to = blankKeys(new Uint32Array(keys.order.length));
  for (const word of ['low', 'high'] as const) {
    for (let shift = 0; shift < 32; shift += digitBits) {
      const starts = yield* digitStarts(from[word], shift);
      if (starts === undefined) continue;
      const [source, target] = [from, to];
      yield* inStrides(source.order.length, (first, end) => {
        scatter(source, { to: target, word, shift, starts, first, end });
      });
      // No pass writes to the caller's arrays.
      to = source === keys ? blankKeys(new Uint32Array(keys.order.length)) : source;
      from = target;
    }
  }
  return from;
}

export function blankKeys(order: Uint32Array): RadixKeys {
  return {
    high: new Uint32Array(order.length),
    low: new Uint32Array(order.length),
    order,
  };
}

function* digitStarts(words: Uint32Array, shift: number): Steps<Uint32Array | undefined> {
  const starts = new Uint32Array(digits);
  yield* inStrides(words.length, (from, to) => {
    for (let index = from; index < to; index++) {
      const digit = ((words[index] ?? 0) >>> shift) & (digits - 1);
      starts[digit] = (starts[digit] ?? 0) + 1;
    }
  });
  if (starts[((words[0] ?? 0) >>> shift) & (digits - 1)] === words.length) return undefined;
  let start = 0;
  for (let digit = 0; digit < digits; digit++) {
    const count = starts[digit] ?? 0;
    starts[digit] = start;
    start += count;
  }
  return starts;
}

type Pass = {
  readonly to: RadixKeys;
  readonly word: 'high' | 'low';
  readonly shift: number;
  readonly starts: Uint32Array;
  readonly first: number;
  readonly end: number;
};

function scatter({ high, low, order }: RadixKeys, { to, word, shift, starts, first, end }: Pass): void {
  const words = word === 'high' ? high : low;
  for (let index = first; index < end; index++) {
    const digit = ((words[index] ?? 0) >>> shift) & (digits - 1);
    const at = starts[digit] ?? 0;
    starts[digit] = at + 1;
    to.high[at] = high[index] ?? 0;
    to.low[at] = low[index] ?? 0;
    to.order[at] = order[index] ?? 0;
  }
}
