import type { Slices } from '../../src/base/slices.ts';
import { atOnce, inSlices } from '../../src/base/steps.ts';
import { nameIndex } from '../../src/resource/type/index-definition.ts';
import type { IndexEntry, IndexKey } from '../../src/resource/type/index-entry.ts';
import type { ListQuery } from '../../src/resource/query/list-query.ts';
import type { IndexDefinition } from '../../src/resource/type/resource-type.ts';
import { Choice, chosen, type QueryResult } from './index-choice.ts';
import { loadOrders } from './index-load.ts';
import { labelTerm, markedPosting, newOrders, viewOf, type Orders, type OrdersView } from './index-orders.ts';

/** The orders in one state, which does not change until `release` is called. */
export type HeldOrders = {
  readonly orders: OrdersView;
  readonly release: () => void;
};

/**
 * All indexes of one type, in memory. Each change is complete within one turn, so that readers see a consistent state.
 */
export class TypeIndex {
  readonly #orders: Orders;

  /** `definitions` must start with `metadata.name`. */
  constructor(definitions: readonly IndexDefinition[], orders: Orders = newOrders(definitions)) {
    if (definitions[0]?.name !== nameIndex) throw new Error(`the first index of a type must be ${nameIndex}`);
    this.#orders = orders;
  }

  get size(): number {
    return this.#orders.rows.size;
  }

  /** Adds the entry of an object, or replaces the object's previous entry. */
  put(entry: IndexEntry): void {
    const ordinal = this.#ordinal(entry.name);
    const { rows } = this.#orders;
    if (ordinal === undefined) this.#insertAll(rows.add(entry));
    else if (rows.views.areOpen) {
      // Open views may read the old row, so the new state gets a new row.
      this.remove(entry);
      this.#insertAll(rows.add(entry));
    } else if (rows.created(ordinal) === entry.created) this.#change(ordinal, entry);
    else {
      // The object was deleted and created again, so its place changes in every order.
      this.#removeAll(ordinal);
      rows.set(ordinal, entry);
      this.#insertAll(ordinal);
    }
  }

  remove({ name }: { readonly name: string }): void {
    const ordinal = this.#ordinal(name);
    if (ordinal === undefined) return;
    this.#removeAll(ordinal);
    this.#orders.rows.remove(ordinal);
  }

  /** The name of an object with `key` in the index at position `index`; undefined if no object has `key`. */
  has(index: number, key: IndexKey): string | undefined {
    const sequence = this.#orders.byIndex[index];
    if (sequence === undefined) throw new RangeError(`the type has no index ${String(index)}`);
    const ordinal = sequence.view.first(key);
    return ordinal === undefined ? undefined : this.#orders.rows.name(ordinal);
  }

  /** Runs a query within this turn. Use `query` only for short windows and selections. */
  query(query: ListQuery): QueryResult {
    return atOnce(chosen(viewOf(this.#orders), query));
  }

  /** Starts a query over several turns, which reads the present state of the index. */
  begin(query: ListQuery): Choice {
    const { views } = this.#orders.rows;
    const view = views.open();
    return new Choice(chosen(viewOf(this.#orders), query), () => {
      views.close(view);
    });
  }

  /** Returns all orders in their current state, which does not change until `release` is called. */
  hold(): HeldOrders {
    const { views } = this.#orders.rows;
    const view = views.open();
    return {
      orders: viewOf(this.#orders),
      release: () => {
        views.close(view);
      },
    };
  }

  #ordinal(name: string): number | undefined {
    return this.#orders.byIndex[0]?.view.first(name);
  }

  #insertAll(ordinal: number): void {
    const { byDefault, byIndex } = this.#orders;
    byDefault.insert(ordinal, 0);
    for (let index = 0; index < byIndex.length; index++) this.#insertInto(index, ordinal);
    for (const term of this.#terms(ordinal)) this.#orders.byLabel.insert(ordinal, term);
  }

  #removeAll(ordinal: number): void {
    const { byDefault, byIndex } = this.#orders;
    byDefault.remove(ordinal, 0);
    for (let index = 0; index < byIndex.length; index++) this.#removeFrom(index, ordinal);
    for (const term of this.#terms(ordinal)) this.#orders.byLabel.remove(ordinal, term);
  }

  #change(ordinal: number, entry: IndexEntry): void {
    const { rows, byLabel } = this.#orders;
    // The first column is the name, which has not changed.
    for (let index = 1; index < rows.columns.length; index++) {
      const column = rows.columns[index];
      const keys = entry.keys[index] ?? [];
      if (column === undefined || rows.isOfRow(column) || isEqual(column.keys(ordinal), keys)) continue;
      this.#removeFrom(index, ordinal);
      column.set(ordinal, keys);
      this.#insertInto(index, ordinal);
    }
    const before = this.#terms(ordinal);
    rows.setLabels(ordinal, entry.labels);
    const after = this.#terms(ordinal);
    for (const term of before) if (!after.includes(term)) byLabel.remove(ordinal, term);
    for (const term of after) if (!before.includes(term)) byLabel.insert(ordinal, term);
  }

  #insertInto(place: number, ordinal: number): void {
    const sequence = this.#orders.byIndex[place];
    this.#eachPosting(place, ordinal, (posting, key) => {
      sequence?.insert(posting, key);
    });
  }

  #removeFrom(place: number, ordinal: number): void {
    const sequence = this.#orders.byIndex[place];
    this.#eachPosting(place, ordinal, (posting, key) => {
      sequence?.remove(posting, key);
    });
  }

  #eachPosting(place: number, ordinal: number, take: (posting: number, key: IndexKey) => void): void {
    const column = this.#orders.rows.columns[place];
    if (column === undefined) return;
    if (this.#orders.multi[place] !== true) {
      take(ordinal, column.least(ordinal));
      return;
    }
    const keys = column.keys(ordinal);
    if (keys.length === 0) take(markedPosting(ordinal, 0, 1), column.missing);
    for (let at = 0; at < keys.length; at++) take(markedPosting(ordinal, at, keys.length), keys[at] ?? column.missing);
  }

  #terms(ordinal: number): readonly string[] {
    const labels = this.#orders.rows.labels(ordinal);
    const terms: string[] = [];
    for (const key in labels) terms.push(labelTerm(key, labels[key] ?? ''));
    return terms;
  }
}

/**
 * Builds the index of one type in slices. Sorting each order once is faster than a million insertions. `batches` may
 * reuse one array for all batches.
 */
export async function buildTypeIndex(
  definitions: readonly IndexDefinition[],
  batches: Iterable<readonly IndexEntry[]> | AsyncIterable<readonly IndexEntry[]>,
  slices: Pick<Slices, 'isOver' | 'next'>,
): Promise<TypeIndex> {
  const orders = newOrders(definitions);
  for await (const batch of batches) {
    for (const entry of batch) orders.rows.add(entry);
    await slices.next();
  }
  await inSlices(loadOrders(orders), slices);
  return new TypeIndex(definitions, orders);
}

function isEqual(a: readonly IndexKey[], b: readonly IndexKey[]): boolean {
  return a === b || (a.length === b.length && a.every((key, index) => key === b[index]));
}
