import { inStrides, type Steps } from '../../../../src/base/steps.ts';
import type { ListQuery, Window } from '../../../../src/resource/query/list-query.ts';
import type { QueryResult } from '../../../index/index-choice.ts';
import { conditionsOf, holdingRows } from './column-conditions.ts';
import type { ColumnLayout } from '../segment/column-layout.ts';
import { LatestRows } from './latest-rows.ts';
import { createdColumn, Matches, MatchOrder, nameColumn } from './matched-rows.ts';
import { Segment } from '../segment/segment.ts';
import { sortWindow } from './sorted-window.ts';

/** The part of a type's columns that a query at a position needs, as encoded segments. */
export type HeldColumns = {
  readonly layout: readonly ColumnLayout[];
  /** The last snapshot at or before the position. It has each object once. */
  readonly snapshot: Iterable<Buffer>;
  /** The changes after the snapshot, in order. Changes after the position may follow. */
  readonly changes: Iterable<Buffer>;
};

/** The result of a query as of a position within the epoch. */
export function* queryColumns(held: HeldColumns, position: number, query: ListQuery): Steps<QueryResult> {
  const { sort, window } = query;
  const matches = yield* matchesAt(held, position, query);
  const order = yield* MatchOrder.of(matches, sort, held.layout);
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

function wantedColumns({ selection, sort }: ListQuery, labels: number): ReadonlySet<number> {
  const wanted = new Set([nameColumn, createdColumn, ...sort.map(({ index }) => index)]);
  for (const { index } of selection.fields) wanted.add(index);
  if (selection.labels.length > 0) wanted.add(labels);
  return wanted;
}

type Part = { readonly segment: Segment; readonly holding: Uint8Array; readonly base: number };

/** The latest row of each object up to the position, if this row meets all conditions. */
function* matchesAt(held: HeldColumns, position: number, query: ListQuery): Steps<Matches> {
  const { layout, snapshot } = held;
  const labels = layout.length - 1;
  const wanted = wantedColumns(query, labels);
  const conditions = conditionsOf(query.selection, labels);
  const read: Reading = { layout, wanted, conditions };
  const latest = new LatestRows();
  const matches = new Matches();
  for (const part of yield* changedParts(held, read, { position, latest })) {
    addLatest(matches, part, (row, ordinal) => latest.get(ordinal) === part.base + row);
    yield;
  }
  for (const bytes of snapshot) {
    const segment = new Segment(bytes, layout, wanted);
    const holding = holdingRows(segment, conditions, segment.rows);
    addLatest(matches, { segment, holding, base: 0 }, (_row, ordinal) => latest.get(ordinal) === 0);
    yield;
  }
  return matches;
}

type Reading = {
  readonly layout: HeldColumns['layout'];
  readonly wanted: ReadonlySet<number>;
  readonly conditions: ReturnType<typeof conditionsOf>;
};

type Bound = { readonly position: number; readonly latest: LatestRows };

/** The rows of changes up to the position. Writes the last row of each object to `latest`. */
function* changedParts(
  { changes }: HeldColumns,
  { layout, wanted, conditions }: Reading,
  { position, latest }: Bound,
): Steps<readonly Part[]> {
  const parts: Part[] = [];
  let base = 1;
  for (const bytes of changes) {
    const segment = new Segment(bytes, layout, wanted);
    const rows = segment.rowsUpTo(position);
    for (let row = 0; row < rows; row++) latest.set(segment.ordinals[row] ?? 0, base + row);
    parts.push({ segment, holding: holdingRows(segment, conditions, rows), base });
    base += rows;
    if (rows < segment.rows) break;
    yield;
  }
  return parts;
}

function addLatest(
  matches: Matches,
  { segment, holding }: Part,
  isLatest: (row: number, ordinal: number) => boolean,
): void {
  matches.open(segment);
  for (let row = 0; row < holding.length; row++)
    if (holding[row] === 1 && isLatest(row, segment.ordinals[row] ?? 0)) matches.add(row);
}
