import type { IndexKey } from '../src/resource/index-entry.ts';
import type { KeyColumn } from './index-columns.ts';
import { labelTerm, markedPosting, type Orders } from './index-orders.ts';
import type { IndexRows } from './index-rows.ts';
import { sortedByNumber, sortedByText } from './index-sort.ts';
import type { OrderedSequence } from './ordered-sequence.ts';

/** Fills the orders from rows that have just been added: `pause` comes between the steps of each order. */
export async function loadOrders(orders: Orders, pause: () => Promise<void>): Promise<void> {
  const { rows, byDefault, byIndex, byLabel } = orders;
  const asAdded = Uint32Array.from({ length: rows.capacity }, (_, ordinal) => ordinal);
  const byName = sortedByText(asAdded, { textOf: (ordinal) => rows.name(ordinal), rankOf: asAdded });
  await pause();
  const inOrder = sortedByNumber(byName, (ordinal) => -rows.created(ordinal));
  const rankOf = new Uint32Array(inOrder.length);
  for (let rank = 0; rank < inOrder.length; rank++) rankOf[inOrder[rank] ?? 0] = rank;
  await pause();
  byDefault.load(inOrder, () => 0);
  await pause();
  for (const [place, sequence] of byIndex.entries()) {
    const column = rows.columns[place];
    if (column === undefined) continue;
    if (place === 0) sequence.load(byName, () => 0);
    else if (orders.multi[place] === true) {
      await deal(sequence, keyTable(column, rows.capacity), { inOrder, marked: true, pause });
    } else await loadSingle(sequence, column, { asAdded, inOrder, rankOf, pause });
    await pause();
  }
  await deal(byLabel, labelTable(rows), { inOrder, marked: false, pause });
}

type Pause = { readonly pause: () => Promise<void> };
type LoadOrders = Pause & { readonly asAdded: Uint32Array; readonly inOrder: Uint32Array; readonly rankOf: Uint32Array };

async function loadSingle(sequence: OrderedSequence, column: KeyColumn, orders: LoadOrders): Promise<void> {
  const { asAdded, inOrder, rankOf, pause } = orders;
  if (column.missing === Infinity) {
    const sorted = sortedByNumber(inOrder, (ordinal) => Number(column.least(ordinal)));
    await pause();
    sequence.load(sorted, () => 0);
    return;
  }
  const few = fewKeys(column, asAdded.length);
  await pause();
  if (few !== undefined) {
    await deal(sequence, few, { inOrder, marked: false, pause });
    return;
  }
  const sorted = sortedByText(asAdded, { textOf: (ordinal) => String(column.least(ordinal)), rankOf });
  await pause();
  sequence.load(sorted, () => 0);
}

/** Keys by posting, ordinal after ordinal. */
type KeyTable = {
  /** Distinct. */
  readonly keys: readonly IndexKey[];
  /** Of each posting: the place of its key in `keys`. */
  readonly keyPlaces: Uint32Array;
  /** Of each ordinal: its first posting; and the number of all at the end. Undefined: one each. */
  readonly starts: Uint32Array | undefined;
};

/** Up to this many distinct texts are sorted by themselves and the objects dealt out to them. */
const fewKeysMax = 4_096;

function fewKeys(column: KeyColumn, capacity: number): KeyTable | undefined {
  const places = new Map<IndexKey, number>();
  const keyPlaces = new Uint32Array(capacity);
  for (let ordinal = 0; ordinal < capacity; ordinal++) {
    keyPlaces[ordinal] = placeOfKey(places, column.least(ordinal));
    if (places.size > fewKeysMax) return undefined;
  }
  return { keys: [...places.keys()], keyPlaces, starts: undefined };
}

function keyTable(column: KeyColumn, capacity: number): KeyTable {
  const places = new Map<IndexKey, number>();
  const keyPlaces = new Growing(capacity);
  const starts = new Uint32Array(capacity + 1);
  for (let ordinal = 0; ordinal < capacity; ordinal++) {
    const keys = column.keys(ordinal);
    for (const key of keys) keyPlaces.push(placeOfKey(places, key));
    if (keys.length === 0) keyPlaces.push(placeOfKey(places, column.missing));
    starts[ordinal + 1] = keyPlaces.length;
  }
  return { keys: [...places.keys()], keyPlaces: keyPlaces.used(), starts };
}

function placeOfKey<K>(places: Map<K, number>, key: K): number {
  const known = places.get(key);
  if (known !== undefined) return known;
  places.set(key, places.size);
  return places.size - 1;
}

function labelTable(rows: IndexRows): KeyTable {
  /** By key and value, so that a term is put together once and not once an object. */
  const places = new Map<string, Map<string, number>>();
  const keys: string[] = [];
  const keyPlaces = new Growing(rows.capacity);
  const starts = new Uint32Array(rows.capacity + 1);
  for (let ordinal = 0; ordinal < rows.capacity; ordinal++) {
    const labels = rows.labels(ordinal);
    for (const key in labels) {
      const value = labels[key] ?? '';
      let values = places.get(key);
      if (values === undefined) places.set(key, values = new Map<string, number>());
      let place = values.get(value);
      if (place === undefined) values.set(value, place = keys.push(labelTerm(key, value)) - 1);
      keyPlaces.push(place);
    }
    starts[ordinal + 1] = keyPlaces.length;
  }
  return { keys, keyPlaces: keyPlaces.used(), starts };
}

type Deal = Pause & { readonly inOrder: Uint32Array; readonly marked: boolean };

/** Sorts the distinct keys, then deals the postings out to them in default order, which they keep. */
async function deal(sequence: OrderedSequence, { keys, keyPlaces, starts }: KeyTable, { inOrder, marked, pause }: Deal): Promise<void> {
  await pause();
  const next = firstRanks(keys, keyPlaces);
  await pause();
  const postings = new Uint32Array(keyPlaces.length);
  const keyAt = new Uint32Array(keyPlaces.length);
  for (const ordinal of inOrder) {
    const from = starts === undefined ? ordinal : starts[ordinal] ?? 0;
    const to = starts === undefined ? ordinal + 1 : starts[ordinal + 1] ?? 0;
    for (let at = from; at < to; at++) {
      const place = keyPlaces[at] ?? 0;
      const rank = next[place] ?? 0;
      next[place] = rank + 1;
      postings[rank] = marked ? markedPosting(ordinal, at - from, to - from) : ordinal;
      keyAt[rank] = place;
    }
  }
  await pause();
  sequence.load(postings, (rank) => keys[keyAt[rank] ?? 0] ?? '');
}

/** The rank of each key's first posting. */
function firstRanks(keys: readonly IndexKey[], keyPlaces: Uint32Array): Uint32Array {
  const places = Uint32Array.from({ length: keys.length }, (_, place) => place);
  const sorted = typeof keys[0] === 'number'
    ? sortedByNumber(places, (place) => Number(keys[place]))
    : sortedByText(places, { textOf: (place) => String(keys[place]), rankOf: places });
  const ranks = new Uint32Array(keys.length);
  for (const place of keyPlaces) ranks[place] = (ranks[place] ?? 0) + 1;
  let rank = 0;
  for (const place of sorted) {
    const count = ranks[place] ?? 0;
    ranks[place] = rank;
    rank += count;
  }
  return ranks;
}

/** Numbers of which it is not known how many there will be. */
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
