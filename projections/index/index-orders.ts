import type { IndexDefinition } from '../../src/resource/type/resource-type.ts';
import { IndexRows } from './index-rows.ts';
import { greatestMark, leastMark, type OrderView } from './order-view.ts';
import { OrderedSequence } from './ordered-sequence.ts';

/** The rows of one type and every order of them: what writes keep up to date. */
export type Orders = {
  readonly rows: IndexRows;
  /** Newest first, then by name. */
  readonly byDefault: OrderedSequence;
  /** By place of the index: ascending, objects without a value last. */
  readonly byIndex: readonly OrderedSequence[];
  /** Whether an object may have several postings in the order at that place. */
  readonly multi: readonly boolean[];
  /** Over `labelTerm`s; objects without labels are not in it. */
  readonly byLabel: OrderedSequence;
};

/** The same as queries read it: over several turns only while a view is open. */
export type OrdersView = Pick<Orders, 'rows' | 'multi'> & {
  readonly byDefault: OrderView;
  readonly byIndex: readonly OrderView[];
  readonly byLabel: OrderView;
};

export function viewOf({ rows, multi, byDefault, byIndex, byLabel }: Orders): OrdersView {
  return { rows, multi, byDefault: byDefault.view, byIndex: byIndex.map(({ view }) => view), byLabel: byLabel.view };
}

/** No label holds a control character, so a term is a key and a value in one way only. */
export function labelTerm(key: string, value: string): string {
  return `${key}\0${value}`;
}

/** A posting of the key at `place` among an object's `count` keys. */
export function markedPosting(ordinal: number, place: number, count: number): number {
  return ordinal | (place === 0 ? leastMark : 0) | (place === count - 1 ? greatestMark : 0);
}

export function newOrders(definitions: readonly IndexDefinition[]): Orders {
  const rows = new IndexRows(definitions);
  return {
    rows,
    byDefault: new OrderedSequence(rows, { kind: 'none' }),
    byIndex: rows.columns.map((column, place) => new OrderedSequence(rows, definitions[place]?.multi === true ? { kind: 'posting' } : { kind: 'column', column })),
    multi: definitions.map(({ multi }) => multi),
    byLabel: new OrderedSequence(rows, { kind: 'posting' }),
  };
}
