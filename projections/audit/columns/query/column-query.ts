import { inStrides, type Steps } from '../../../../src/base/steps.ts';
import type { ListQuery, Window } from '../../../../src/resource/query/list-query.ts';
import type { QueryResult } from '../../../index/index-choice.ts';
import { conditionsOf, keepHolding } from './column-conditions.ts';
import type { ColumnLayout } from '../segment/column-layout.ts';
import { LatestRows } from './latest-rows.ts';
import { Matches, MatchOrder } from './matched-rows.ts';
import { Segment, type Segments } from '../segment/segment.ts';
import { sortWindow } from './sorted-window.ts';

/** The part of a type's columns that a query at a position needs, as encoded segments. */
export type HeldColumns = {
  readonly layout: readonly ColumnLayout[];
  /** The last snapshot at or before the position. It has each object once. */
  readonly snapshot: Segments;
  /** The changes after the snapshot, in the order of the log. Changes after the position may follow. */
  readonly changes: Segments;
};

/** The result of a query as of a position within the epoch. */
export function* queryColumns(held: HeldColumns, position: number, query: ListQuery): Steps<QueryResult> {
  const { window } = query;
  const matches = yield* matchesAt(held, position, query);
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

function* windowOf(
  order: MatchOrder,
  window: Window,
): Steps<{ readonly selected: Uint32Array; readonly skip: number; readonly take: number }> {
  const selected = yield* order.after(window.kind === 'after' ? window.after : undefined);
  const [skip, size] =
    window.kind === 'page'
      ? [window.page * window.size - window.size, window.size]
      : [0, window.kind === 'after' ? window.limit : selected.length];
  return { selected, skip, take: Math.max(0, Math.min(size, selected.length - skip)) };
}

/** The latest row of each object up to the position, if this row meets all conditions. */
function* matchesAt(held: HeldColumns, position: number, { selection, sort }: ListQuery): Steps<Matches> {
  const { layout, snapshot, changes } = held;
  const conditions = conditionsOf(selection, layout.length - 1);
  const latest = new LatestRows();
  const matches = new Matches(layout, sort);
  let base = 1;
  for (const [number, rows] of (yield* changedRows(held, position, latest)).entries()) {
    const segment = new Segment(changes.read(number), layout);
    const first = base;
    const holding = aliveRows(segment, rows, (row, ordinal) => latest.get(ordinal) === first + row);
    keepHolding(segment, conditions, holding);
    matches.add(changes, number, { segment, holding });
    base += rows;
    yield;
  }
  for (let number = 0; number < snapshot.count; number++) {
    const segment = new Segment(snapshot.read(number), layout);
    const holding = aliveRows(segment, segment.rows, (_row, ordinal) => latest.get(ordinal) === 0);
    keepHolding(segment, conditions, holding);
    matches.add(snapshot, number, { segment, holding });
    yield;
  }
  return matches;
}

/**
 * The number of rows of each segment of changes up to the position. Writes the last row of each object to `latest`.
 * Rows count from 1, over all segments.
 */
function* changedRows(
  { layout, changes }: HeldColumns,
  position: number,
  latest: LatestRows,
): Steps<readonly number[]> {
  const counts: number[] = [];
  let base = 1;
  for (let number = 0; number < changes.count; number++) {
    const segment = new Segment(changes.read(number), layout);
    const rows = segment.rowsUpTo(position);
    for (let row = 0; row < rows; row++) latest.set(segment.ordinals[row] ?? 0, base + row);
    counts.push(rows);
    base += rows;
    if (rows < segment.rows) break;
    yield;
  }
  return counts;
}

/** For each of the first `rows` rows: 1 if the row has an object and is the latest one of the object. */
function aliveRows(
  { alive, ordinals }: Segment,
  rows: number,
  isLatest: (row: number, ordinal: number) => boolean,
): Uint8Array {
  const found = new Uint8Array(rows);
  for (let row = 0; row < rows; row++) if (alive[row] === 1 && isLatest(row, ordinals[row] ?? 0)) found[row] = 1;
  return found;
}
