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

/** `order`, sorted by text in UTF-16 order. */
export function sortedByText(order: Uint32Array, textOf: (ordinal: number) => string): Uint32Array {
  if (isSortedText(order, textOf)) return order;
  const sorted = order.slice();
  sortRun({ order: sorted, textOf }, 0, { from: 0, to: sorted.length });
  return sorted;
}

function isSortedText(order: Uint32Array, textOf: (ordinal: number) => string): boolean {
  let before = '';
  for (const ordinal of order) {
    const text = textOf(ordinal);
    if (text < before) return false;
    before = text;
  }
  return true;
}

type Texts = { readonly order: Uint32Array; readonly textOf: (ordinal: number) => string };
type Run = { readonly from: number; readonly to: number };

/** Below this many, comparing costs less than counting digits. */
const comparedMax = 96;

/** Sorts a run of texts that agree up to `depth`. Recursion goes deeper by at least four characters, only where texts agree. */
function sortRun(texts: Texts, depth: number, { from, to }: Run): void {
  if (to - from < 2) return;
  const run = texts.order.subarray(from, to);
  const shared = depth + sharedPrefix(texts, run, depth);
  if (run.length <= comparedMax) {
    sortByComparison(texts, run);
    return;
  }
  const keys = packed(texts, run, shared);
  const sorted = radixSorted(keys);
  run.set(sorted.order);
  for (let start = 0; start < run.length;) {
    let end = start + 1;
    while (end < run.length && sorted.high[end] === sorted.high[start] && sorted.low[end] === sorted.low[start]) end++;
    if (end - start > 1) sortEqualStart(texts, { shared, width: keys.width, ended: keys.ended(sorted.low[start] ?? 0) }, { from: from + start, to: from + end });
    start = end;
  }
}

/** A run of texts whose packed characters are equal: equal texts, mostly, or texts that go on. */
function sortEqualStart(texts: Texts, { shared, width, ended }: { readonly shared: number; readonly width: number; readonly ended: boolean }, run: Run): void {
  const ordinals = texts.order.subarray(run.from, run.to);
  const first = texts.textOf(ordinals[0] ?? 0);
  if (ordinals.every((ordinal) => texts.textOf(ordinal) === first)) return;
  // Where a text has ended, its padding looks like NUL: only a comparison tells them apart.
  if (ended) sortByComparison(texts, ordinals);
  else sortRun(texts, shared + width, run);
}

function sortByComparison({ textOf }: Texts, run: Uint32Array): void {
  run.sort((a, b) => {
    const first = textOf(a);
    const second = textOf(b);
    return first < second ? -1 : first > second ? 1 : 0;
  });
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
function packed({ textOf }: Texts, order: Uint32Array, depth: number): PackedTexts {
  const high = new Uint32Array(order.length);
  const low = new Uint32Array(order.length);
  for (let place = 0; place < order.length; place++) {
    const text = textOf(order[place] ?? 0);
    const [a, b, c, d] = [unit(text, depth), unit(text, depth + 1), unit(text, depth + 2), unit(text, depth + 3)];
    const [e, f, g, h] = [unit(text, depth + 4), unit(text, depth + 5), unit(text, depth + 6), unit(text, depth + 7)];
    if ((a | b | c | d | e | f | g | h) > 0xff) return packedWide({ order, textOf }, depth);
    high[place] = a << 24 | b << 16 | c << 8 | d;
    low[place] = e << 24 | f << 16 | g << 8 | h;
  }
  return { high, low, order, width: 8, ended: (word) => (word & 0xff) === 0 };
}

function packedWide({ textOf, order }: Texts, depth: number): PackedTexts {
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

const digitBits = 11;
const digits = 1 << digitBits;

/** By `high`, then `low`, least digit first; digits that are the same in all are passed over. */
function radixSorted(keys: Packed): Packed {
  let from: Packed = keys;
  let to: Packed = { high: new Uint32Array(keys.order.length), low: new Uint32Array(keys.order.length), order: new Uint32Array(keys.order.length) };
  for (const word of ['low', 'high'] as const) {
    for (let shift = 0; shift < 32; shift += digitBits) {
      const starts = digitStarts(from[word], shift);
      if (starts === undefined) continue;
      scatter(from, { to, word, shift, starts });
      // The caller's own arrays are read in the first pass only.
      const spare: Packed = from === keys ? { high: new Uint32Array(keys.order.length), low: new Uint32Array(keys.order.length), order: new Uint32Array(keys.order.length) } : from;
      from = to;
      to = spare;
    }
  }
  return from;
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
