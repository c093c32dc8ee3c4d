import type { IndexKey } from '../src/resource/index-entry.ts';
import type { OrderPlace, SortKey } from '../src/resource/list-query.ts';
import { bitsOf } from './index-bits.ts';
import type { Orders } from './index-orders.ts';
import type { Selected } from './index-plan.ts';
import { hitsBefore, hitsIn, isHit, ordinalsFrom, rankForward, rankOfHit, type CountedWalk, type Slice, type Walk } from './index-walk.ts';
import { greatestMark, leastMark, ordinalMask, type Chunk } from './ordered-sequence.ts';

/**
 * Selected objects in order, by window. One ascending key, or none, is a walk along that key's order. In every other case
 * the order is one of groups, objects with an equal first key, each in the order of the remaining keys.
 */
export type Ordering = { readonly orders: Orders; readonly sort: readonly SortKey[] };

export function totalOf(orders: Orders, selected: Selected): number {
  switch (selected.kind) {
    case 'all': return orders.rows.size;
    case 'range': return selected.high - selected.low;
    case 'bits': return selected.total;
    case 'listed': return selected.ordinals.length;
  }
}

/** The ordinals of one window, in order. */
export function sliceOf(ordering: Ordering, selected: Selected, slice: Slice): readonly number[] {
  if (slice.take <= 0) return [];
  const source = sourceOf(ordering, selected);
  if (source.kind === 'listed') return source.ordinals.toSorted((a, b) => compareRows(ordering, a, b)).slice(slice.skip, slice.skip + slice.take);
  return walkSlice(ordering, source.walk, slice);
}

/** How many of the selected stand at or before `place`. */
export function countUpTo(ordering: Ordering, selected: Selected, place: OrderPlace): number {
  const source = sourceOf(ordering, selected);
  if (source.kind === 'listed') return source.ordinals.reduce((count, ordinal) => count + Number(comparePlace(ordering, ordinal, place) <= 0), 0);
  return countInWalk(ordering, source.walk, place);
}

function countInWalk(ordering: Ordering, walk: CountedWalk, place: OrderPlace): number {
  const [first, ...rest] = ordering.sort;
  // Without a sort all postings of the walk have one key: the default order's, or that of the requirement it is a range of.
  if (first === undefined) return walk.total === 0 ? 0 : hitsBefore(walk, walk.sequence.after(walk.sequence.keyAt(walk.low), place));
  if (first.nulls !== undefined) return countInParts(ordering, walk, { place, first });
  const key = place.keys[0] ?? missingKey(ordering.orders, first);
  if (!isGrouped(ordering.sort)) return hitsBefore(walk, walk.sequence.after(key, place));
  const group = groupOf(walk, key);
  const before = first.direction === 'asc' ? hitsBefore(walk, group.low) : walk.total - hitsBefore(walk, group.high);
  if (rest.length === 0) return before + hitsIn(walk, group.low, Math.max(group.low, Math.min(group.high, walk.sequence.after(key, place))));
  const members: Selected = { kind: 'listed', ordinals: ordinalsFrom(group, group.low, Infinity) };
  return before + countUpTo({ orders: ordering.orders, sort: rest }, members, { ...place, keys: place.keys.slice(1) });
}

export function placeOf({ orders, sort }: Ordering, ordinal: number): OrderPlace {
  const keys = sort.map((key) => {
    const value = keyOfRow(orders, key, ordinal);
    return value === missingKey(orders, key) ? undefined : value;
  });
  return { keys, ...orders.rows.tie(ordinal) };
}

type Source = { readonly kind: 'listed'; readonly ordinals: readonly number[] } | { readonly kind: 'walk'; readonly walk: CountedWalk };

/** Few objects are sorted by themselves; more are met on a walk along the whole order. */
function sourceOf({ orders, sort }: Ordering, selected: Selected): Source {
  const [first] = sort;
  const sequence = first === undefined ? orders.byDefault : orders.byIndex[first.index];
  if (sequence === undefined) throw new RangeError('there is no index at a sort key');
  const mark = first === undefined || orders.multi[first.index] !== true ? 0 : first.direction === 'asc' ? leastMark : greatestMark;
  const whole = { sequence, low: 0, high: sequence.size, mark };
  switch (selected.kind) {
    case 'all': return { kind: 'walk', walk: { ...whole, bits: undefined, total: orders.rows.size } };
    case 'range': return { kind: 'walk', walk: { ...selected, mark: 0, bits: undefined, total: selected.high - selected.low } };
    case 'bits':
    case 'listed': return filtered(orders, selected, whole);
  }
}

function filtered({ rows }: Orders, selected: Extract<Selected, { kind: 'bits' | 'listed' }>, whole: Omit<Walk, 'bits'>): Source {
  if (selected.kind === 'listed') {
    const { ordinals } = selected;
    return isSortedSooner(ordinals.length, rows.size)
      ? { kind: 'listed', ordinals }
      : { kind: 'walk', walk: { ...whole, bits: bitsOf(ordinals, rows.capacity), total: ordinals.length } };
  }
  return { kind: 'walk', walk: { ...whole, bits: selected.bits, total: selected.total } };
}

/** A comparison takes some forty times as long as passing one posting. */
function isSortedSooner(count: number, size: number): boolean {
  return count * (2 + Math.log2(count + 1)) * 40 < size + 4_096;
}

function walkSlice(ordering: Ordering, walk: CountedWalk, slice: Slice): readonly number[] {
  const [first] = ordering.sort;
  if (slice.take <= 0 || slice.skip >= walk.total) return [];
  if (first?.nulls !== undefined) return slicedParts(ordering, walk, { slice, first });
  return isGrouped(ordering.sort)
    ? groupedSlice(ordering, walk, slice)
    : ordinalsFrom(walk, rankOfHit(walk, slice.skip), slice.take);
}

/** Where objects without a value do not stand as usual, a walk is two: theirs and the others', each as usual. */
function partsOf(
  { orders, sort }: Ordering, walk: CountedWalk, first: SortKey,
): { readonly usual: Ordering; readonly present: CountedWalk; readonly absent: CountedWalk } {
  const { sequence, low, high, bits, total } = walk;
  const cut = Math.min(high, Math.max(low, sequence.lower(missingKey(orders, first))));
  // Such an object has one posting: no mark is needed to meet it once.
  const without = { sequence, low: cut, high, mark: 0, bits };
  const count = hitsIn(without, cut, high);
  return {
    usual: { orders, sort: [{ index: first.index, direction: first.direction }, ...sort.slice(1)] },
    present: { ...walk, high: cut, total: total - count },
    absent: { ...without, total: count },
  };
}

function slicedParts(
  ordering: Ordering, walk: CountedWalk, { slice, first }: { readonly slice: Slice; readonly first: SortKey },
): readonly number[] {
  const { usual, present, absent } = partsOf(ordering, walk, first);
  const [leading, trailing] = first.nulls === 'first' ? [absent, present] : [present, absent];
  const found = walkSlice(usual, leading, slice);
  const rest = { skip: Math.max(0, slice.skip - leading.total), take: slice.take - found.length };
  return [...found, ...walkSlice(usual, trailing, rest)];
}

function countInParts(
  ordering: Ordering, walk: CountedWalk, { place, first }: { readonly place: OrderPlace; readonly first: SortKey },
): number {
  const { usual, present, absent } = partsOf(ordering, walk, first);
  const isAbsent = place.keys[0] === undefined;
  const passed = isAbsent === (first.nulls === 'first') ? 0 : isAbsent ? present.total : absent.total;
  return passed + countInWalk(usual, isAbsent ? absent : present, place);
}

function isGrouped(sort: readonly SortKey[]): boolean {
  return sort.length > 1 || sort[0]?.direction === 'desc';
}

function groupedSlice(ordering: Ordering, walk: CountedWalk, { skip, take }: Slice): readonly number[] {
  const descending = ordering.sort[0]?.direction === 'desc';
  // Groups lie alike in both directions, so the group at a place counted from the end is the group there.
  const ascendingPlace = descending ? walk.total - 1 - skip : skip;
  const rank = rankOfHit(walk, ascendingPlace);
  const group = groupOf(walk, walk.sequence.keyAt(rank));
  const before = descending
    ? walk.total - ascendingPlace - hitsIn(walk, rank, group.high)
    : ascendingPlace - hitsIn(walk, group.low, rank);
  const found = [...membersOf(ordering, group, { skip: skip - before, take })];
  if (found.length < take) appendGroups(ordering, descending ? { ...walk, high: group.low } : { ...walk, low: group.high }, found, take);
  return found;
}

/** The part of a walk with one key. */
function groupOf({ sequence, low: first, high: end, mark, bits }: Walk, key: IndexKey): Walk {
  const low = Math.min(Math.max(first, sequence.lower(key)), end);
  const high = Math.min(end, Math.max(low, sequence.upper(key)));
  return { sequence, low, high, mark, bits };
}

function membersOf({ orders, sort }: Ordering, group: Walk, slice: Slice): readonly number[] {
  const rest = sort.slice(1);
  if (rest.length > 0) return sliceOf({ orders, sort: rest }, { kind: 'listed', ordinals: ordinalsFrom(group, group.low, Infinity) }, slice);
  return ordinalsFrom(group, rankForward(group, slice.skip), slice.take);
}

/** Adds the groups of `walk` to `found`, the first one of its order first, until there are `take`. */
function appendGroups(ordering: Ordering, walk: Walk, found: number[], take: number): void {
  const { sequence } = walk;
  const descending = ordering.sort[0]?.direction === 'desc';
  const rest = { orders: ordering.orders, sort: ordering.sort.slice(1) };
  /** Of one key, in the order they were met. */
  let group: number[] = [];
  let groupKey: IndexKey | undefined;
  const flush = (): boolean => {
    if (descending) group.reverse();
    const members = rest.sort.length === 0 || group.length < 2 ? group : sliceOf(rest, { kind: 'listed', ordinals: group }, { skip: 0, take: take - found.length });
    for (const ordinal of members) if (found.length < take) found.push(ordinal);
    group = [];
    return found.length < take;
  };
  const meet = (chunk: Chunk, offset: number): boolean => {
    const posting = chunk.ordinals[offset] ?? 0;
    if (!isHit(posting, walk)) return true;
    const key = sequence.keyIn(chunk, offset);
    if (key !== groupKey && group.length > 0 && !flush()) return false;
    groupKey = key;
    group.push(posting & ordinalMask);
    return true;
  };
  if (descending) sequence.spansBackward(walk.low, walk.high, (chunk, from, to) => eachBackward(chunk, { from, to }, meet));
  else sequence.spans(walk.low, walk.high, (chunk, from, to) => eachForward(chunk, { from, to }, meet));
  if (found.length < take) flush();
}

type Meet = (chunk: Chunk, offset: number) => boolean;

function eachForward(chunk: Chunk, { from, to }: { readonly from: number; readonly to: number }, meet: Meet): boolean {
  for (let offset = from; offset < to; offset++) if (!meet(chunk, offset)) return false;
  return true;
}

function eachBackward(chunk: Chunk, { from, to }: { readonly from: number; readonly to: number }, meet: Meet): boolean {
  for (let offset = to - 1; offset >= from; offset--) if (!meet(chunk, offset)) return false;
  return true;
}

function keyOfRow(orders: Orders, { index, direction }: SortKey, ordinal: number): IndexKey {
  const column = orders.rows.columns[index];
  if (column === undefined) throw new RangeError(`there is no index at ${String(index)}`);
  return direction === 'asc' ? column.least(ordinal) : column.greatest(ordinal);
}

function missingKey(orders: Orders, { index }: SortKey): IndexKey {
  return orders.rows.columns[index]?.missing ?? Infinity;
}

function compareRows(ordering: Ordering, a: number, b: number): number {
  const { orders, sort } = ordering;
  for (const key of sort) {
    const compared = compareKeys(orders, key, [keyOfRow(orders, key, a), keyOfRow(orders, key, b)]);
    if (compared !== 0) return compared;
  }
  return orders.rows.compareTie(a, orders.rows.tie(b));
}

function comparePlace({ orders, sort }: Ordering, ordinal: number, place: OrderPlace): number {
  for (const [at, key] of sort.entries()) {
    const placed = place.keys[at] ?? missingKey(orders, key);
    const compared = compareKeys(orders, key, [keyOfRow(orders, key, ordinal), placed]);
    if (compared !== 0) return compared;
  }
  return orders.rows.compareTie(ordinal, place);
}

function compareKeys(orders: Orders, key: SortKey, [a, b]: readonly [IndexKey, IndexKey]): number {
  if (a === b) return 0;
  if (key.nulls !== undefined) {
    const missing = missingKey(orders, key);
    if (a === missing || b === missing) return (a === missing) === (key.nulls === 'first') ? -1 : 1;
  }
  return (a < b) === (key.direction === 'asc') ? -1 : 1;
}
