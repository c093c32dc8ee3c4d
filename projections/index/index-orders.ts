import type { IndexDefinition } from '../../src/resource/type/resource-type.ts';
import { IndexRows } from './index-rows.ts';
import { greatestMark, leastMark, type OrderView } from './order-view.ts';
import { OrderedSequence } from './ordered-sequence.ts';

/** The rows of one type and all their orders, as writes update them. */
export type Orders = {
  readonly rows: IndexRows;
  /** Newest first, then by name. */
  readonly byDefault: OrderedSequence;
  /** By position of the index: ascending, objects without a value last. */
  readonly byIndex: readonly OrderedSequence[];
  /** By position of the index: whether an object may have several postings. */
  readonly multi: readonly boolean[];
  /** The order over label terms; it omits objects without labels. */
  readonly byLabel: OrderedSequence;
};

/** The orders that queries read. To read them over several turns, open a view first. */
export type OrdersView = Pick<Orders, 'rows' | 'multi'> & {
  readonly byDefault: OrderView;
  readonly byIndex: readonly OrderView[];
  readonly byLabel: OrderView;
};

export function viewOf({ rows, multi, byDefault, byIndex, byLabel }: Orders): OrdersView {
  return { rows, multi, byDefault: byDefault.view, byIndex: byIndex.map(({ view }) => view), byLabel: byLabel.view };
}

/** Labels contain no control characters, so a term is unambiguous. */
export function labelTerm(key: string, value: string): string {
  return `${key}\0${value}`;
}

/** The posting of key number `place` among the `count` keys of an object. */
export function markedPosting(ordinal: number, place: number, count: number): number {
  return ordinal | (place === 0 ? leastMark : 0) | (place === count - 1 ? greatestMark : 0);
}

export function newOrders(definitions: readonly IndexDefinition[]): Orders {
  const rows = new IndexRows(definitions);
  return {
    rows,
    byDefault: new OrderedSequence(rows, { kind: 'none' }),
    byIndex: rows.columns.map(
      (column, index) =>
        new OrderedSequence(
          rows,
          definitions[index]?.multi === true ? { kind: 'posting' } : { kind: 'column', column },
        ),
    ),
    multi: definitions.map(({ multi }) => multi),
    byLabel: new OrderedSequence(rows, { kind: 'posting' }),
  };
}
