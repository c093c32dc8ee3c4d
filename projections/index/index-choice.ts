import type { Slices } from '../../src/base/slices.ts';
import { inStrides, type Steps } from '../../src/base/steps.ts';
import type { ListQuery, OrderPlace, Window } from '../../src/resource/query/list-query.ts';
import type { OrdersView } from './index-orders.ts';
import { select } from './index-plan.ts';
import type { Slice } from './index-walk.ts';
import { countUpTo, placeOf, sliceOf, totalOf, type Ordering } from './index-window.ts';

export type QueryResult = {
  /** The number of all matching objects, including those outside the window. */
  readonly total: number;
  /** The names of the window's objects, in the order of the query. */
  readonly names: readonly string[];
  /** The number of matching objects after the window. */
  readonly remaining: number;
  /** The place of the last object in the window; undefined if no matching objects follow the window. */
  readonly next: OrderPlace | undefined;
};

export function* chosen(orders: OrdersView, { selection, sort, window }: ListQuery): Steps<QueryResult> {
  const ordering: Ordering = { orders, sort };
  const selected = yield* select(orders, selection, sort);
  const total = totalOf(orders, selected);
  const before =
    window.kind === 'after' && window.after !== undefined ? yield* countUpTo(ordering, selected, window.after) : 0;
  const { skip, take } = sliceOfWindow(window, before, total);
  const ordinals = yield* sliceOf(ordering, selected, { skip, take });
  // Allocated with the final length. A growing array of a million elements would be copied many times.
  const names = new Array<string>(ordinals.length);
  yield* inStrides(ordinals.length, (from, to) => {
    for (let index = from; index < to; index++) names[index] = orders.rows.name(ordinals[index] ?? 0);
  });
  const remaining = Math.max(0, total - skip - ordinals.length);
  const last = ordinals.at(-1);
  return {
    total,
    names,
    remaining,
    next: remaining === 0 || last === undefined ? undefined : placeOf(ordering, last),
  };
}

function sliceOfWindow(window: Window, before: number, total: number): Slice {
  switch (window.kind) {
    case 'all':
      return { skip: 0, take: total };
    case 'page':
      return slice(window.page * window.size - window.size, window.size, total);
    case 'after':
      return slice(before, window.limit, total);
  }
}

function slice(skip: number, size: number, total: number): Slice {
  return { skip, take: Math.max(0, Math.min(size, total - skip)) };
}

/**
 * A query that runs over several turns. The query's view of the index stays open until the query completes, fails or is
 * closed.
 */
export class Choice {
  readonly #steps: Steps<QueryResult>;
  readonly #release: () => void;

  constructor(steps: Steps<QueryResult>, release: () => void) {
    this.#steps = steps;
    this.#release = release;
  }

  /** Continues the query until the slice is over. Returns undefined if the query has not completed. */
  advance(slices: Pick<Slices, 'isOver'>): QueryResult | undefined {
    let isPaused = false;
    try {
      for (;;) {
        const step = this.#steps.next();
        if (step.done === true) return step.value;
        if (!slices.isOver()) continue;
        isPaused = true;
        return undefined;
      }
    } finally {
      if (!isPaused) this.close();
    }
  }

  /** Cancels the query, and closes the view of the index. */
  close(): void {
    this.#release();
  }
}
