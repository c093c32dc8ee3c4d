/**
 * Stable sorts of ordinals by key for loads. A comparison sort of a million distinct texts takes seconds, most of it cache
 * misses on texts; these read each text once, eight characters at a time, and move numbers.
 */

/** `order`, sorted by number; `numberOf` answers finite numbers or Infinity. */
export function sortedByNumber(order: Uint32Array, numberOf: (ordinal: number) => number): Uint32Array {
  const values = new Float64Array(order.length);
  let isSorted = true;
  for (let place = 0; place < order.length; place++) {
    // Minus zero would come before zero.
    values[place] = numberOf(order[place] ?? 0) + 0;
    if (place > 0 && (values[place - 1] ?? 0) > (values[place] ?? 0)) isSorted = false;
  }
  if (isSorted) return order;
  const words = new Uint32Array(values.buffer);
  const high = new Uint32Array(order.length);
  const low = new Uint32Array(order.length);
  for (let place = 0; place < order.length; place++) {
    const sign = words[place * 2 + 1] ?? 0;
    // A double's bits order as the number does once negatives are turned round and positives put after them.
    const flip = (sign & 0x80000000) === 0 ? 0 : 0xffffffff;
    high[place] = sign ^ (flip | 0x80000000);
    low[place] = (words[place * 2] ?? 0) ^ flip;
  }
  return radixSorted({ high, low, order }).order;
}

/** Texts by ordinal, and where each ordinal stands among those with an equal text. */
export type Texts = { readonly textOf: (ordinal: number) => string; readonly rankOf: Uint32Array };

/**
 * `ordinals` sorted by text in UTF-16 order, then by rank. Best given in the order the texts were made: they are then read as
 * they lie in memory.
 */
export function sortedByText(ordinals: Uint32Array, texts: Texts): Uint32Array {
  if (isSortedText(ordinals, texts)) return ordinals;
  const sorted = ordinals.slice();
  sortRun(texts, sorted, 0);
  return sorted;
}

function isSortedText(ordinals: Uint32Array, { textOf }: Texts): boolean {
  let before: string | undefined;
  for (const ordinal of ordinals) {
    const text = textOf(ordinal);
    if (before !== undefined && text <= before) return false;
    before = text;
  }
  return true;
}

/** Below this many, comparing costs less than counting digits; a few are not worth an array of their own. */
const comparedMax = 64;
const fewMax = 8;

/** Sorts ordinals whose texts agree up to `depth`. It calls itself at least four characters deeper, where texts still agree. */
function sortRun(texts: Texts, run: Uint32Array, depth: number): void {
  if (run.length <= comparedMax) {
    sortByComparison(texts, run);
    return;
  }
  const shared = depth + sharedPrefix(texts, run, depth);
  const keys = packed(texts, run, shared);
  const { high, low, order } = radixSorted(keys);
  run.set(order);
  for (let start = 0; start < run.length;) {
    let end = start + 1;
    while (end < run.length && high[end] === high[start] && low[end] === low[start]) end++;
    // Where a text has ended, its padding looks like NUL: only a comparison tells them apart.
    if (end - start > fewMax) sortEqualStart(texts, run.subarray(start, end), keys.ended(low[start] ?? 0) ? undefined : shared + keys.width);
    else if (end - start > 1) sortFew(texts, run, { from: start, to: end });
    start = end;
  }
}

/** Ordinals whose texts look alike so far: equal, mostly, or going on at `depth`. */
function sortEqualStart(texts: Texts, run: Uint32Array, depth: number | undefined): void {
  const first = texts.textOf(run[0] ?? 0);
  if (run.length > comparedMax && run.every((ordinal) => texts.textOf(ordinal) === first)) sortByRank(texts, run);
  else if (depth === undefined) sortByComparison(texts, run);
  else sortRun(texts, run, depth);
}

/** By insertion, in place. */
function sortFew({ textOf, rankOf }: Texts, run: Uint32Array, { from, to }: { readonly from: number; readonly to: number }): void {
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

function sortByRank({ rankOf }: Texts, run: Uint32Array): void {
  const high = new Uint32Array(run.length);
  const low = run.map((ordinal) => rankOf[ordinal] ?? 0);
  run.set(radixSorted({ high, low, order: run }).order);
}

/** Each text is fetched once: the fetching is what takes time. */
function sortByComparison({ textOf, rankOf }: Texts, run: Uint32Array): void {
  const pairs = Array.from(run, (ordinal) => ({ text: textOf(ordinal), ordinal }));
  pairs.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : (rankOf[a.ordinal] ?? 0) - (rankOf[b.ordinal] ?? 0)));
  for (let place = 0; place < run.length; place++) run[place] = pairs[place]?.ordinal ?? 0;
}

function sharedPrefix({ textOf }: Texts, run: Uint32Array, depth: number): number {
  const first = textOf(run[0] ?? 0);
  let shared = first.length - depth;
  for (const ordinal of run) {
    const text = textOf(ordinal);
    let same = 0;
    while (same < shared && text.charCodeAt(depth + same) === first.charCodeAt(depth + same)) same++;
    shared = same;
    if (shared === 0) return 0;
  }
  return shared;
}

type Packed = { readonly high: Uint32Array; readonly low: Uint32Array; readonly order: Uint32Array };
type PackedTexts = Packed & { readonly width: number; readonly ended: (low: number) => boolean };

/** The eight characters from `depth` on as two words; four where a character needs two bytes. */
function packed(texts: Texts, order: Uint32Array, depth: number): PackedTexts {
  const high = new Uint32Array(order.length);
  const low = new Uint32Array(order.length);
  for (let place = 0; place < order.length; place++) {
    const text = texts.textOf(order[place] ?? 0);
    let first = 0;
    let second = 0;
    let all = 0;
    for (let at = depth; at < depth + 4; at++) {
      const [one, other] = [unit(text, at), unit(text, at + 4)];
      first = first << 8 | one;
      second = second << 8 | other;
      all |= one | other;
    }
    if (all > 0xff) return packedWide(texts, order, depth);
    high[place] = first;
    low[place] = second;
  }
  return { high, low, order, width: 8, ended: (word) => (word & 0xff) === 0 };
}

function packedWide({ textOf }: Texts, order: Uint32Array, depth: number): PackedTexts {
  const high = new Uint32Array(order.length);
  const low = new Uint32Array(order.length);
  for (let place = 0; place < order.length; place++) {
    const text = textOf(order[place] ?? 0);
    high[place] = unit(text, depth) << 16 | unit(text, depth + 1);
    low[place] = unit(text, depth + 2) << 16 | unit(text, depth + 3);
  }
  return { high, low, order, width: 4, ended: (word) => (word & 0xffff) === 0 };
}

/** 0 past the end. */
function unit(text: string, at: number): number {
  return at < text.length ? text.charCodeAt(at) : 0;
}

/** One character. More bits mean fewer passes, each writing to more places at once than the cache has lines for. */
const digitBits = 8;
const digits = 1 << digitBits;

/** By `high`, then `low`, least digit first; digits that are the same in all are passed over. */
function radixSorted(keys: Packed): Packed {
  let from = keys;
  let to = blank(keys.order.length);
  for (const word of ['low', 'high'] as const) {
    for (let shift = 0; shift < 32; shift += digitBits) {
      const starts = digitStarts(from[word], shift);
      if (starts === undefined) continue;
      scatter(from, { to, word, shift, starts });
      // The caller's own arrays are only read.
      const spare = from === keys ? blank(keys.order.length) : from;
      from = to;
      to = spare;
    }
  }
  return from;
}

function blank(length: number): Packed {
  return { high: new Uint32Array(length), low: new Uint32Array(length), order: new Uint32Array(length) };
}

function digitStarts(words: Uint32Array, shift: number): Uint32Array | undefined {
  const starts = new Uint32Array(digits);
  for (let place = 0; place < words.length; place++) {
    const digit = (words[place] ?? 0) >>> shift & digits - 1;
    starts[digit] = (starts[digit] ?? 0) + 1;
  }
  if (starts[(words[0] ?? 0) >>> shift & digits - 1] === words.length) return undefined;
  let start = 0;
  for (let digit = 0; digit < digits; digit++) {
    const count = starts[digit] ?? 0;
    starts[digit] = start;
    start += count;
  }
  return starts;
}

type Pass = { readonly to: Packed; readonly word: 'high' | 'low'; readonly shift: number; readonly starts: Uint32Array };

function scatter({ high, low, order }: Packed, { to, word, shift, starts }: Pass): void {
  const words = word === 'high' ? high : low;
  for (let place = 0; place < words.length; place++) {
    const digit = (words[place] ?? 0) >>> shift & digits - 1;
    const at = starts[digit] ?? 0;
    starts[digit] = at + 1;
    to.high[at] = high[place] ?? 0;
    to.low[at] = low[place] ?? 0;
    to.order[at] = order[place] ?? 0;
  }
}
