import type { IndexKey } from '../src/resource/index-entry.ts';
import type { KeyColumn } from './index-columns.ts';
import { labelTerm, markedPosting, type Orders } from './index-orders.ts';
import type { IndexRows } from './index-rows.ts';
import { sortedByNumber, sortedByText } from './index-sort.ts';
import type { OrderedSequence } from './ordered-sequence.ts';

/** Fills the orders from rows that have just been added, one order at a time. */
export async function loadOrders(orders: Orders, pause: () => Promise<void>): Promise<void> {
  const { rows, byDefault, byIndex, byLabel } = orders;
  const byName = sortedByText(Uint32Array.from({ length: rows.capacity }, (_, ordinal) => ordinal), (ordinal) => rows.name(ordinal));
  await pause();
  // Every other sort is stable, so what starts from the default order keeps it among equals.
  const defaultOrder = sortedByNumber(byName, (ordinal) => -rows.created(ordinal));
  byDefault.load(defaultOrder, () => 0);
  await pause();
  for (const [place, sequence] of byIndex.entries()) {
    const column = rows.columns[place];
    if (column === undefined) continue;
    if (orders.multi[place] === true) loadPostings(sequence, keyedPostings(column, defaultOrder));
    else sequence.load(place === 0 ? byName : sortedByKey(column, defaultOrder), () => 0);
    await pause();
  }
  loadPostings(byLabel, labelPostings(rows, defaultOrder));
}

function sortedByKey(column: KeyColumn, order: Uint32Array): Uint32Array {
  return column.missing === Infinity
    ? sortedByNumber(order, (ordinal) => Number(column.least(ordinal)))
    : sortedByText(order, (ordinal) => String(column.least(ordinal)));
}

/** Postings in default order, each with the place of its key among the distinct ones. */
type Postings = { readonly keys: readonly IndexKey[]; readonly keyPlaces: readonly number[]; readonly postings: readonly number[] };

function keyedPostings(column: KeyColumn, order: Uint32Array): Postings {
  const places = new Map<IndexKey, number>();
  const keyPlaces: number[] = [];
  const postings: number[] = [];
  const missing = [column.missing];
  for (const ordinal of order) {
    const own = column.keys(ordinal);
    const keys = own.length === 0 ? missing : own;
    for (let at = 0; at < keys.length; at++) {
      keyPlaces.push(placeOfKey(places, keys[at] ?? column.missing));
      postings.push(markedPosting(ordinal, at, keys.length));
    }
  }
  return { keys: [...places.keys()], keyPlaces, postings };
}

function placeOfKey(places: Map<IndexKey, number>, key: IndexKey): number {
  const known = places.get(key);
  if (known !== undefined) return known;
  places.set(key, places.size);
  return places.size - 1;
}

function labelPostings(rows: IndexRows, order: Uint32Array): Postings {
  /** By key and value, so that a term is put together once and not once an object. */
  const places = new Map<string, Map<string, number>>();
  const keys: string[] = [];
  const keyPlaces: number[] = [];
  const postings: number[] = [];
  for (const ordinal of order) {
    const labels = rows.labels(ordinal);
    for (const key in labels) {
      const value = labels[key] ?? '';
      let values = places.get(key);
      if (values === undefined) places.set(key, values = new Map<string, number>());
      let place = values.get(value);
      if (place === undefined) values.set(value, place = keys.push(labelTerm(key, value)) - 1);
      keyPlaces.push(place);
      postings.push(ordinal);
    }
  }
  return { keys, keyPlaces, postings };
}

/** Sorts the distinct keys, then deals the postings out to them. */
function loadPostings(sequence: OrderedSequence, { keys, keyPlaces, postings }: Postings): void {
  const places = Uint32Array.from({ length: keys.length }, (_, place) => place);
  const sorted = typeof keys[0] === 'number'
    ? sortedByNumber(places, (place) => Number(keys[place]))
    : sortedByText(places, (place) => String(keys[place]));
  const starts = new Uint32Array(keys.length);
  for (const place of keyPlaces) starts[place] = (starts[place] ?? 0) + 1;
  let start = 0;
  for (const place of sorted) {
    const count = starts[place] ?? 0;
    starts[place] = start;
    start += count;
  }
  const dealt = new Uint32Array(postings.length);
  const dealtKeys = new Uint32Array(postings.length);
  for (let at = 0; at < postings.length; at++) {
    const place = keyPlaces[at] ?? 0;
    const to = starts[place] ?? 0;
    starts[place] = to + 1;
    dealt[to] = postings[at] ?? 0;
    dealtKeys[to] = place;
  }
  sequence.load(dealt, (rank) => keys[dealtKeys[rank] ?? 0] ?? '');
}
