import { inStrides, type Steps } from '../../../../src/base/steps.ts';
import type { ListQuery, Window } from '../../../../src/resource/query/list-query.ts';
import type { QueryResult } from '../../../index/index-choice.ts';
import { lastThat } from '../../last-that.ts';
import { conditionsOf, keepHolding } from './column-conditions.ts';
import type { ColumnLayout } from '../segment/column-layout.ts';
import { Matches, MatchOrder } from './matched-rows.ts';
import type { NumberPages } from './numbers.ts';
import { SeenOrdinals } from './seen-ordinals.ts';
import { Segment, type Segments } from '../segment/segment.ts';
import { sortWindow } from './sorted-window.ts';

/** The part of a type's columns that a query at a position needs, as encoded segments. */
export type HeldColumns = {
  readonly layout: readonly ColumnLayout[];
  /** The last snapshot at or before the position; empty if there is no snapshot. A snapshot has each object once. */
  readonly snapshot: Segments;
  /** The changes after the snapshot, in the order of the log. May include changes after the position. */
  readonly changes: Segments;
};

export function* queryColumns(
  held: HeldColumns,
  position: number,
  query: ListQuery,
  pages: NumberPages,
): Steps<QueryResult> {
  const matches = new Matches(held.layout, query.sort, pages);
  try {
    yield* addMatches(matches, held, position, query);
    return yield* pageOf(matches, query);
  } finally {
    matches.release();
  }
}

function* pageOf(matches: Matches, { window }: ListQuery): Steps<QueryResult> {
  const order = new MatchOrder(matches);
  const { selected, skip, take } = yield* windowOf(order, window);
  yield* sortWindow(selected, skip, skip + take, (a, b) => order.compare(a, b));
  const found = selected.subarray(skip, skip + take);
  const names = new Array<string>(found.length);
  yield* inStrides(found.length, (from, to) => {
    for (let index = from; index < to; index++) names[index] = order.name(found[index] ?? 0);
  });
  const remaining = Math.max(0, selected.length - skip - found.length);
  const last = found.at(-1);
  const next = remaining === 0 || last === undefined ? undefined : order.placeOf(last);
  return { total: matches.size, names, remaining, next };
}

type SelectedPage = {
  readonly selected: Uint32Array;
  readonly skip: number;
  readonly take: number;
};

function* windowOf(order: MatchOrder, window: Window): Steps<SelectedPage> {
  const selected = yield* order.after(window.kind === 'after' ? window.after : undefined);
  const [skip, size] =
    window.kind === 'page'
      ? [window.page * window.size - window.size, window.size]
      : [0, window.kind === 'after' ? window.limit : selected.length];
  return {
    selected,
    skip,
    take: Math.max(0, Math.min(size, selected.length - skip)),
  };
}

/**
 * Adds the latest row of each object up to the position, if this row meets all conditions. Reads the changes
 * backwards and then the snapshot, so the first row of an object is the latest row.
 */
function* addMatches(
  matches: Matches,
  held: HeldColumns,
  position: number,
  { selection }: ListQuery,
): Steps<undefined> {
  const { layout, snapshot, changes } = held;
  const conditions = conditionsOf(selection, layout.length - 1);
  const seen = new SeenOrdinals();
  const scratch = new Scratch();
  for (let number = lastUpTo(held, position); number >= 0; number--) {
    yield;
    const segment = new Segment(changes.read(number), layout);
    const holding = scratch.cleared(segment.rowsUpTo(position));
    markLatest(holding, segment, seen);
    keepHolding(segment, conditions, holding);
    matches.add(changes, number, { segment, holding });
  }
  for (let number = 0; number < snapshot.count; number++) {
    yield;
    const segment = new Segment(snapshot.read(number), layout);
    const holding = scratch.cleared(segment.rows);
    markUnseen(holding, segment, seen);
    keepHolding(segment, conditions, holding);
    matches.add(snapshot, number, { segment, holding });
  }
}

/** The number of the last segment of changes with a row up to the position; -1 if there is none. */
function lastUpTo({ layout, changes }: HeldColumns, position: number): number {
  const isUpTo = (number: number): boolean =>
    number < changes.count && new Segment(changes.read(number), layout).firstPosition <= position;
  return lastThat(isUpTo) ?? -1;
}

/**
 * Bytes that the segments of one query share. A separate array for each segment would be garbage, which delays all
 * requests.
 */
class Scratch {
  #bytes = new Uint8Array(1_024);

  /** An array of zeros, valid until the next call. */
  cleared(length: number): Uint8Array {
    if (length > this.#bytes.length) this.#bytes = new Uint8Array(length);
    return this.#bytes.subarray(0, length).fill(0);
  }
}

/** Sets `found[row]` to 1 for each row that is the latest row of its object and is not a deletion. */
function markLatest(found: Uint8Array, { alive, ordinals }: Segment, seen: SeenOrdinals): void {
  for (let row = found.length - 1; row >= 0; row--)
    if (seen.add(ordinals.at(row)) && alive.at(row) === 1) found[row] = 1;
}

/** Sets `found[row]` to 1 for each row of a snapshot, unless the row's object has a later change. */
function markUnseen(found: Uint8Array, { alive, ordinals }: Segment, seen: SeenOrdinals): void {
  for (let row = 0; row < found.length; row++) {
    if (alive.at(row) === 1 && !seen.has(ordinals.at(row))) found[row] = 1;
  }
}
