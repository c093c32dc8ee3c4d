import { inStrides, strideMax, type Steps } from '../../src/base/steps.ts';
import type { IndexKey } from '../../src/resource/type/index-entry.ts';
import type { KeyColumn } from './index-columns.ts';
import { labelTerm, markedPosting, type Orders } from './index-orders.ts';
import type { IndexRows } from './index-rows.ts';
import { sortedByNumber, sortedByText } from './index-sort.ts';
import type { OrderedSequence } from './ordered-sequence.ts';
import { SteadyMap } from './steady-map.ts';

/** Fills empty orders from the added rows. The orders must not be read before the last step. */
export function* loadOrders(orders: Orders): Steps<undefined> {
  const { rows, byDefault, byIndex, byLabel } = orders;
  const asAdded = yield* numbered(rows.capacity);
  const byName = yield* sortedByText(asAdded, { textOf: (ordinal) => rows.name(ordinal), rankOf: asAdded });
  const inOrder = yield* sortedByNumber(byName, (ordinal) => -rows.created(ordinal));
  const rankOf = new Uint32Array(inOrder.length);
  yield* inStrides(inOrder.length, (from, to) => {
    for (let rank = from; rank < to; rank++) rankOf[inOrder[rank] ?? 0] = rank;
  });
  yield* byDefault.load(inOrder, () => 0);
  for (const [index, sequence] of byIndex.entries()) {
    const column = rows.columns[index];
    if (column === undefined) continue;
    yield;
    if (index === 0) yield* sequence.load(byName, () => 0);
    else if (orders.multi[index] !== true) yield* loadSingle(sequence, column, { asAdded, inOrder, rankOf });
    else yield* deal(sequence, yield* keyTable(column, rows.capacity), { inOrder, marked: true });
  }
  yield;
  yield* deal(byLabel, yield* labelTable(rows), { inOrder, marked: false });
}

/** The numbers from 0 to `length` (exclusive). */
function* numbered(length: number): Steps<Uint32Array> {
  const numbers = new Uint32Array(length);
  yield* inStrides(length, (from, to) => {
    for (let index = from; index < to; index++) numbers[index] = index;
  });
  return numbers;
}

type LoadOrders = Readonly<Record<'asAdded' | 'inOrder' | 'rankOf', Uint32Array>>;

function* loadSingle(sequence: OrderedSequence, column: KeyColumn, orders: LoadOrders): Steps<undefined> {
  const { asAdded, inOrder, rankOf } = orders;
  if (column.missing === Infinity) {
    const sorted = yield* sortedByNumber(inOrder, (ordinal) => Number(column.least(ordinal)));
    yield* sequence.load(sorted, () => 0);
    return;
  }
  const few = yield* fewKeys(column, asAdded.length);
  if (few !== undefined) {
    yield* deal(sequence, few, { inOrder, marked: false });
    return;
  }
  const sorted = yield* sortedByText(asAdded, { textOf: (ordinal) => String(column.least(ordinal)), rankOf });
  yield* sequence.load(sorted, () => 0);
}

/** The keys of all postings, grouped by ordinal. */
type KeyTable = {
  /** The distinct keys. */
  readonly keys: readonly IndexKey[];
  /** For each posting: the index of its key in `keys`. */
  readonly keyPlaces: Uint32Array;
  /** For each ordinal: the first posting. The last element is the total. Undefined if each ordinal has one posting. */
  readonly starts: Uint32Array | undefined;
};

/**
 * Up to this number of distinct texts in an index, only the distinct texts are sorted, which is faster than sorting all
 * objects.
 */
const fewKeysMax = 4_096;

function* fewKeys(column: KeyColumn, capacity: number): Steps<KeyTable | undefined> {
  const places = new KeyPlaces();
  const keyPlaces = new Uint32Array(capacity);
  yield* inStrides(capacity, (from, to) => {
    for (let ordinal = from; ordinal < to; ordinal++) keyPlaces[ordinal] = places.of(column.least(ordinal));
    return places.keys.length <= fewKeysMax;
  });
  return places.keys.length > fewKeysMax ? undefined : { keys: places.keys, keyPlaces, starts: undefined };
}

function* keyTable(column: KeyColumn, capacity: number): Steps<KeyTable> {
  const places = new KeyPlaces();
  const keyPlaces = new Growing(capacity);
  const starts = new Uint32Array(capacity + 1);
  const due = new Due();
  for (let ordinal = 0; ordinal < capacity; ordinal++) {
    const keys = column.keys(ordinal);
    for (const key of keys) keyPlaces.push(places.of(key));
    if (keys.length === 0) keyPlaces.push(places.of(column.missing));
    starts[ordinal + 1] = keyPlaces.length;
    if (due.isPast(keyPlaces.length)) yield;
  }
  return { keys: places.keys, keyPlaces: keyPlaces.used(), starts };
}

/** Assigns an index to each distinct key, in order of first use. */
class KeyPlaces {
  readonly keys: IndexKey[] = [];
  readonly #places = new SteadyMap<number>();

  of(key: IndexKey): number {
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const place = this.keys.push(key) - 1;
    this.#places.add(key, place);
    return place;
  }
}

function* labelTable(rows: IndexRows): Steps<KeyTable> {
  /** Label key → label value → place in `keys`, so that each term is built only once. */
  const places = new SteadyMap<SteadyMap<number>>();
  const keys: string[] = [];
  const keyPlaces = new Growing(rows.capacity);
  const starts = new Uint32Array(rows.capacity + 1);
  const due = new Due();
  for (let ordinal = 0; ordinal < rows.capacity; ordinal++) {
    const labels = rows.labels(ordinal);
    for (const key in labels) {
      const value = labels[key] ?? '';
      let values = places.get(key);
      if (values === undefined) places.add(key, (values = new SteadyMap<number>()));
      let place = values.get(value);
      if (place === undefined) values.add(value, (place = keys.push(labelTerm(key, value)) - 1));
      keyPlaces.push(place);
    }
    starts[ordinal + 1] = keyPlaces.length;
    if (due.isPast(ordinal + keyPlaces.length)) yield;
  }
  return { keys, keyPlaces: keyPlaces.used(), starts };
}

/** Decides when a loop must yield, by the number of processed objects and postings. */
class Due {
  #next = strideMax;

  /**
   * Returns whether a yield is due, and if so, schedules the next yield. `done`: the number of processed objects and
   * postings.
   */
  isPast(done: number): boolean {
    if (done < this.#next) return false;
    this.#next = done + strideMax;
    return true;
  }
}

type Deal = {
  readonly inOrder: Uint32Array;
  readonly marked: boolean;
};

/**
 * Sorts the distinct keys, then distributes the postings to the keys. Postings with equal keys stay in default order.
 */
function* deal(sequence: OrderedSequence, table: KeyTable, { inOrder, marked }: Deal): Steps<undefined> {
  const { keys, keyPlaces, starts } = table;
  const next = yield* firstRanks(keys, keyPlaces);
  const postings = new Uint32Array(keyPlaces.length);
  const keyAt = new Uint32Array(keyPlaces.length);
  const due = new Due();
  let done = 0;
  for (const ordinal of inOrder) {
    const from = starts === undefined ? ordinal : (starts[ordinal] ?? 0);
    const to = starts === undefined ? ordinal + 1 : (starts[ordinal + 1] ?? 0);
    for (let at = from; at < to; at++) {
      const place = keyPlaces[at] ?? 0;
      const rank = next[place] ?? 0;
      next[place] = rank + 1;
      postings[rank] = marked ? markedPosting(ordinal, at - from, to - from) : ordinal;
      keyAt[rank] = place;
    }
    done += 1 + to - from;
    if (due.isPast(done)) yield;
  }
  yield* sequence.load(postings, (rank) => keys[keyAt[rank] ?? 0] ?? '');
}

/** For each key: the rank of its first posting. */
function* firstRanks(keys: readonly IndexKey[], keyPlaces: Uint32Array): Steps<Uint32Array> {
  const places = yield* numbered(keys.length);
  const sorted =
    typeof keys[0] === 'number'
      ? yield* sortedByNumber(places, (place) => Number(keys[place]))
      : yield* sortedByText(places, { textOf: (place) => String(keys[place]), rankOf: places });
  const ranks = new Uint32Array(keys.length);
  yield* inStrides(keyPlaces.length, (from, to) => {
    for (const place of keyPlaces.subarray(from, to)) ranks[place] = (ranks[place] ?? 0) + 1;
  });
  let rank = 0;
  yield* inStrides(sorted.length, (from, to) => {
    for (const place of sorted.subarray(from, to)) {
      const count = ranks[place] ?? 0;
      ranks[place] = rank;
      rank += count;
    }
  });
  return ranks;
}

class Growing {
  #numbers: Uint32Array;
  #length = 0;

  constructor(expected: number) {
    this.#numbers = new Uint32Array(expected + 16);
  }

  get length(): number {
    return this.#length;
  }

  push(number: number): void {
    if (this.#length === this.#numbers.length) {
      const grown = new Uint32Array(this.#length * 2);
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    this.#numbers[this.#length++] = number;
  }

  used(): Uint32Array {
    return this.#numbers.subarray(0, this.#length);
  }
}
