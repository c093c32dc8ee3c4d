import { inStrides, strideMax, type Steps } from '../../src/base/steps.ts';
import { blankKeys, radixSorted, type RadixKeys } from '../radix-sort.ts';

/**
 * Sorts of ordinals by key, for the build of an index. A comparison sort of a million texts takes seconds, mostly
 * because of cache misses. So the sorts read up to eight characters at a time, and move only numbers.
 */

/** Returns `order` sorted by number. The sort is stable. `numberOf` must return a finite number or Infinity. */
export function* sortedByNumber(order: Uint32Array, numberOf: (ordinal: number) => number): Steps<Uint32Array> {
  const values = new Float64Array(order.length);
  let descents = 0;
  yield* inStrides(order.length, (from, to) => {
    for (let index = from; index < to; index++) {
      // Converts minus zero to zero, since minus zero would sort before zero.
      values[index] = numberOf(order[index] ?? 0) + 0;
      if (index > 0 && (values[index - 1] ?? 0) > (values[index] ?? 0)) descents += 1;
    }
  });
  if (descents === 0) return order;
  const words = new Uint32Array(values.buffer);
  const high = new Uint32Array(order.length);
  const low = new Uint32Array(order.length);
  yield* inStrides(order.length, (from, to) => {
    for (let index = from; index < to; index++) {
      const sign = words[index * 2 + 1] ?? 0;
      // Makes the bits of a double sort like its number. All bits of a negative number are inverted; the sign bit of
      // any other number is set.
      const flip = (sign & 0x80000000) === 0 ? 0 : 0xffffffff;
      high[index] = sign ^ (flip | 0x80000000);
      low[index] = (words[index * 2] ?? 0) ^ flip;
    }
  });
  return (yield* radixSorted({ high, low, order })).order;
}

/** The text of each ordinal, and the rank of each ordinal among equal texts. */
export type Texts = {
  readonly textOf: (ordinal: number) => string;
  readonly rankOf: Uint32Array;
};

/**
 * Returns `ordinals` sorted by text in UTF-16 order, then by rank. The sort is fastest if `ordinals` is in the order in
 * which the texts were created, because consecutive texts are then neighbours in memory.
 */
export function* sortedByText(ordinals: Uint32Array, texts: Texts): Steps<Uint32Array> {
  if (yield* isSortedText(ordinals, texts)) return ordinals;
  const sorted = ordinals.slice();
  yield* sortRun(texts, sorted, 0);
  return sorted;
}

function* isSortedText(ordinals: Uint32Array, { textOf }: Texts): Steps<boolean> {
  let before: string | undefined;
  let isSorted = true;
  yield* inStrides(ordinals.length, (from, to) => {
    for (let index = from; index < to && isSorted; index++) {
      const text = textOf(ordinals[index] ?? 0);
      isSorted = before === undefined || text > before;
      before = text;
    }
    return isSorted;
  });
  return isSorted;
}

/** The maximum length of a run for which a comparison sort is faster than a radix sort. */
const comparedMax = 64;
const fewMax = 8;

/** Sorts ordinals with texts that are equal up to offset `depth`. */
function* sortRun(texts: Texts, run: Uint32Array, depth: number): Steps<undefined> {
  if (run.length <= comparedMax) {
    sortByComparison(texts, run);
    return;
  }
  const shared = depth + (yield* sharedPrefix(texts, run, depth));
  const keys = yield* packed(texts, run, shared);
  const { high, low, order } = yield* radixSorted(keys);
  run.set(order);
  let paused = 0;
  for (let start = 0; start < run.length;) {
    let end = start + 1;
    while (end < run.length && high[end] === high[start] && low[end] === low[start]) end++;
    if (end - start > comparedMax) {
      const isWhole = !keys.ended(low[start] ?? 0);
      yield* sortEqualStart(texts, run.subarray(start, end), { depth: shared + keys.width, isWhole });
    } else if (end - start > fewMax) sortByComparison(texts, run.subarray(start, end));
    else if (end - start > 1) sortFew(texts, run, { from: start, to: end });
    start = end;
    if (start - paused < strideMax) continue;
    paused = start;
    yield;
  }
}

type EqualStart = {
  readonly depth: number;
  /** Whether no text ends before `depth`. */
  readonly isWhole: boolean;
};

/** Sorts ordinals with texts that are equal up to offset `depth`. */
function* sortEqualStart(texts: Texts, run: Uint32Array, { depth, isWhole }: EqualStart): Steps<undefined> {
  if (yield* areEqual(texts, run)) yield* sortByNumbers(run, { first: () => 0, second: rankIn(texts) });
  else if (isWhole) yield* sortRun(texts, run, depth);
  else yield* sortEnded(texts, run, depth);
}

/**
 * Sorts texts of which some end before `depth`. The padding after the end of a text equals NUL characters of other
 * texts. So texts that have ended are sorted by length, before all texts that continue.
 */
function* sortEnded(texts: Texts, run: Uint32Array, depth: number): Steps<undefined> {
  const lengthOf = (ordinal: number): number => Math.min(texts.textOf(ordinal).length, depth + 1);
  yield* sortByNumbers(run, { first: lengthOf, second: rankIn(texts) });
  let longer = 0;
  yield* inStrides(run.length, (from, to) => {
    for (let index = from; index < to; index++) if (lengthOf(run[index] ?? 0) > depth) longer += 1;
  });
  if (longer > 1) yield* sortRun(texts, run.subarray(run.length - longer), depth);
}

function rankIn({ rankOf }: Texts): (ordinal: number) => number {
  return (ordinal) => rankOf[ordinal] ?? 0;
}

function* areEqual({ textOf }: Texts, run: Uint32Array): Steps<boolean> {
  const first = textOf(run[0] ?? 0);
  let areAll = true;
  yield* inStrides(run.length, (from, to) => {
    for (let index = from; index < to && areAll; index++) areAll = textOf(run[index] ?? 0) === first;
    return areAll;
  });
  return areAll;
}

type SortedRun = {
  readonly from: number;
  readonly to: number;
};

/** Sorts a few elements by insertion, in place. */
function sortFew({ textOf, rankOf }: Texts, run: Uint32Array, { from, to }: SortedRun): void {
  for (let next = from + 1; next < to; next++) {
    const ordinal = run[next] ?? 0;
    const text = textOf(ordinal);
    let place = next;
    for (; place > from; place--) {
      const before = run[place - 1] ?? 0;
      const textBefore = textOf(before);
      if (textBefore < text || (textBefore === text && (rankOf[before] ?? 0) < (rankOf[ordinal] ?? 0))) break;
      run[place] = before;
    }
    run[place] = ordinal;
  }
}

type Numbers = {
  readonly first: (ordinal: number) => number;
  readonly second: (ordinal: number) => number;
};

/** Sorts in place by two integers below 2^32. */
function* sortByNumbers(run: Uint32Array, { first, second }: Numbers): Steps<undefined> {
  const high = new Uint32Array(run.length);
  const low = new Uint32Array(run.length);
  yield* inStrides(run.length, (from, to) => {
    for (let index = from; index < to; index++) {
      high[index] = first(run[index] ?? 0);
      low[index] = second(run[index] ?? 0);
    }
  });
  run.set((yield* radixSorted({ high, low, order: run })).order);
}

/** Sorts by comparison. Reads each text only once, since reading takes most of the time. */
function sortByComparison({ textOf, rankOf }: Texts, run: Uint32Array): void {
  const pairs = Array.from(run, (ordinal) => ({ text: textOf(ordinal), ordinal }));
  pairs.sort((a, b) =>
    a.text < b.text ? -1 : a.text > b.text ? 1 : (rankOf[a.ordinal] ?? 0) - (rankOf[b.ordinal] ?? 0),
  );
  for (let index = 0; index < run.length; index++) run[index] = pairs[index]?.ordinal ?? 0;
}

function* sharedPrefix({ textOf }: Texts, run: Uint32Array, depth: number): Steps<number> {
  const first = textOf(run[0] ?? 0);
  let shared = first.length - depth;
  yield* inStrides(run.length, (from, to) => {
    for (let index = from; index < to && shared > 0; index++) {
      const text = textOf(run[index] ?? 0);
      let same = 0;
      while (same < shared && text.charCodeAt(depth + same) === first.charCodeAt(depth + same)) same++;
      shared = same;
    }
    return shared > 0;
  });
  return shared;
}

type PackedTexts = RadixKeys & {
  readonly width: number;
  readonly ended: (low: number) => boolean;
};

/** Packs eight characters from `depth` on into two words; only four if a character needs more than one byte. */
function* packed(texts: Texts, order: Uint32Array, depth: number): Steps<PackedTexts> {
  const keys = blankKeys(order);
  const narrow = { isWhole: true };
  yield* inStrides(order.length, (from, to) => (narrow.isWhole = packNarrow(texts, keys, { from, to, depth })));
  if (narrow.isWhole)
    return {
      ...keys,
      width: 8,
      ended: (word) => (word & 0xff) === 0,
    };
  yield* inStrides(order.length, (from, to) => {
    packWide(texts, keys, { from, to, depth });
  });
  return {
    ...keys,
    width: 4,
    ended: (word) => (word & 0xffff) === 0,
  };
}

type Part = {
  readonly from: number;
  readonly to: number;
  readonly depth: number;
};

/** Packs eight characters of each text. Returns false if a character needs two bytes. */
function packNarrow({ textOf }: Texts, { high, low, order }: RadixKeys, { from, to, depth }: Part): boolean {
  for (let index = from; index < to; index++) {
    const text = textOf(order[index] ?? 0);
    let first = 0;
    let second = 0;
    let all = 0;
    for (let at = depth; at < depth + 4; at++) {
      const [one, other] = [unit(text, at), unit(text, at + 4)];
      first = (first << 8) | one;
      second = (second << 8) | other;
      all |= one | other;
    }
    if (all > 0xff) return false;
    high[index] = first;
    low[index] = second;
  }
  return true;
}

function packWide({ textOf }: Texts, { high, low, order }: RadixKeys, { from, to, depth }: Part): void {
  for (let index = from; index < to; index++) {
    const text = textOf(order[index] ?? 0);
    high[index] = (unit(text, depth) << 16) | unit(text, depth + 1);
    low[index] = (unit(text, depth + 2) << 16) | unit(text, depth + 3);
  }
}

/** The code unit at the offset; 0 after the end of the text. */
function unit(text: string, at: number): number {
  return at < text.length ? text.charCodeAt(at) : 0;
}
