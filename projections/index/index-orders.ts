import type { IndexDefinition } from '../../src/resource/type/resource-type.ts';
import { IndexRows } from './index-rows.ts';
import { greatestMark, leastMark, type OrderView } from './order-view.ts';
import { OrderedSequence } from './ordered-sequence.ts';

export type Orders = {
  readonly rows: IndexRows;
  /** The order by creation time, newest first, then by name. */
  readonly byDefault: OrderedSequence;
  /** For each index: the order by ascending key. Objects without a value are last. */
  readonly byIndex: readonly OrderedSequence[];
  /** For each index: whether an object may have several postings. */
  readonly multi: readonly boolean[];
  /** The order by label terms. Objects without labels have no posting. */
  readonly byLabel: OrderedSequence;
};

/** The orders that queries read. A query over several turns must first open a view of the index (`IndexViews`). */
export type OrdersView = Pick<Orders, 'rows' | 'multi'> & {
  readonly byDefault: OrderView;
  readonly byIndex: readonly OrderView[];
  readonly byLabel: OrderView;
};

export function viewOf({ rows, multi, byDefault, byIndex, byLabel }: Orders): OrdersView {
  return {
    rows,
    multi,
    byDefault: byDefault.view,
    byIndex: byIndex.map(({ view }) => view),
    byLabel: byLabel.view,
  };
}

/** Joins the key and value of a label. The term is unambiguous, since labels contain no control characters. */
export function labelTerm(key: string, value: string): string {
  return `${key}\0${value}`;
}

/**
 * Returns the posting of an object's key: the ordinal, with marks if the key is the object's least or greatest key.
 * `place`: the place of the key among the `count` keys of the object.
 */
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
