import { inStrides, type Steps } from '../../src/base/steps.ts';
import type { IndexKey } from '../../src/resource/type/index-entry.ts';
import type { OrderPlace, SortKey } from '../../src/resource/query/list-query.ts';
import { emptyBits, setBit, type Bits } from './index-bits.ts';
import type { OrdersView } from './index-orders.ts';
import type { Selected } from './index-plan.ts';
import {
  hitsBefore,
  hitsIn,
  isHit,
  ordinalsFrom,
  rankForward,
  rankOfHit,
  type CountedWalk,
  type Slice,
  type Walk,
} from './index-walk.ts';
import { greatestMark, leastMark, ordinalMask } from './order-view.ts';

/**
 * The orders of a type, and the sort keys of a query. Objects with an equal first key form a group, which is sorted by
 * the remaining keys. A query without keys, or with a single ascending key, needs no groups.
 */
export type Ordering = { readonly orders: OrdersView; readonly sort: readonly SortKey[] };

export function totalOf(orders: OrdersView, selected: Selected): number {
  switch (selected.kind) {
    case 'all':
      return orders.byDefault.size;
    case 'range':
      return selected.high - selected.low;
    case 'bits':
      return selected.total;
    case 'listed':
      return selected.ordinals.length;
  }
}

/** The ordinals of one window, in the order of the query. */
export function* sliceOf(ordering: Ordering, selected: Selected, slice: Slice): Steps<readonly number[]> {
  if (slice.take <= 0) return [];
  const source = yield* sourceOf(ordering, selected);
  if (source.kind === 'listed')
    return source.ordinals.toSorted((a, b) => compareRows(ordering, a, b)).slice(slice.skip, slice.skip + slice.take);
  return yield* walkSlice(ordering, source.walk, slice);
}

/** The number of selected objects at or before `place`. */
export function* countUpTo(ordering: Ordering, selected: Selected, place: OrderPlace): Steps<number> {
  const source = yield* sourceOf(ordering, selected);
  if (source.kind === 'listed')
    return source.ordinals.reduce((count, ordinal) => count + Number(comparePlace(ordering, ordinal, place) <= 0), 0);
  return yield* countInWalk(ordering, source.walk, place);
}

function* countInWalk(ordering: Ordering, walk: CountedWalk, place: OrderPlace): Steps<number> {
  const { sequence } = walk;
  const [first, ...rest] = ordering.sort;
  // Without a sort, all postings of the walk have the same key.
  if (first === undefined)
    return walk.total === 0 ? 0 : yield* hitsBefore(walk, sequence.after(sequence.keyAt(walk.low), place));
  if (first.nulls !== undefined) return yield* countInParts(ordering, walk, { place, first });
  const key = place.keys[0] ?? missingKey(ordering.orders, first);
  if (!isGrouped(ordering.sort)) return yield* hitsBefore(walk, sequence.after(key, place));
  const group = groupOf(walk, key);
  const before =
    first.direction === 'asc' ? yield* hitsBefore(walk, group.low) : walk.total - (yield* hitsBefore(walk, group.high));
  if (rest.length === 0) {
    const passed = Math.max(group.low, Math.min(group.high, sequence.after(key, place)));
    return before + (yield* hitsIn(walk, group.low, passed));
  }
  const members: Selected = { kind: 'listed', ordinals: yield* ordinalsFrom(group, group.low, Infinity) };
  return (
    before +
    (yield* countUpTo({ orders: ordering.orders, sort: rest }, members, { ...place, keys: place.keys.slice(1) }))
  );
}

export function placeOf({ orders, sort }: Ordering, ordinal: number): OrderPlace {
  const keys = sort.map((key) => {
    const value = keyOfRow(orders, key, ordinal);
    return value === missingKey(orders, key) ? undefined : value;
  });
  return { keys, ...orders.rows.tie(ordinal) };
}

type Source =
  | { readonly kind: 'listed'; readonly ordinals: readonly number[] }
  | { readonly kind: 'walk'; readonly walk: CountedWalk };

/** Returns few objects as a list to sort directly, and more objects as a walk along the order. */
function* sourceOf({ orders, sort }: Ordering, selected: Selected): Steps<Source> {
  const [first] = sort;
  const sequence = first === undefined ? orders.byDefault : orders.byIndex[first.index];
  if (sequence === undefined) throw new RangeError('a sort key has no index');
  const mark =
    first === undefined || orders.multi[first.index] !== true
      ? 0
      : first.direction === 'asc'
        ? leastMark
        : greatestMark;
  const whole = { sequence, low: 0, high: sequence.size, mark };
  switch (selected.kind) {
    case 'all':
      return { kind: 'walk', walk: { ...whole, bits: undefined, total: orders.byDefault.size } };
    case 'range':
      return { kind: 'walk', walk: { ...selected, mark: 0, bits: undefined, total: selected.high - selected.low } };
    case 'bits':
    case 'listed':
      return yield* filtered(orders, selected, whole);
  }
}

type Filter = Extract<Selected, { kind: 'bits' | 'listed' }>;

function* filtered({ rows, byDefault }: OrdersView, selected: Filter, whole: Omit<Walk, 'bits'>): Steps<Source> {
  if (selected.kind === 'bits') return { kind: 'walk', walk: { ...whole, bits: selected.bits, total: selected.total } };
  const { ordinals } = selected;
  if (isSortedSooner(ordinals.length, byDefault.size)) return { kind: 'listed', ordinals };
  return { kind: 'walk', walk: { ...whole, bits: yield* bitsOf(ordinals, rows.capacity), total: ordinals.length } };
}

function* bitsOf(ordinals: readonly number[], capacity: number): Steps<Bits> {
  const bits = emptyBits(capacity);
  yield* inStrides(ordinals.length, (from, to) => {
    for (let index = from; index < to; index++) setBit(bits, ordinals[index] ?? 0);
  });
  return bits;
}

/**
 * Whether sorting the objects is faster than a walk. A comparison takes about forty times as long as passing a posting.
 */
function isSortedSooner(count: number, size: number): boolean {
  return count * (2 + Math.log2(count + 1)) * 40 < size + 4_096;
}

function* walkSlice(ordering: Ordering, walk: CountedWalk, slice: Slice): Steps<readonly number[]> {
  const [first] = ordering.sort;
  if (slice.take <= 0 || slice.skip >= walk.total) return [];
  if (first?.nulls !== undefined) return yield* slicedParts(ordering, walk, { slice, first });
  if (isGrouped(ordering.sort)) return yield* groupedSlice(ordering, walk, slice);
  return yield* ordinalsFrom(walk, yield* rankOfHit(walk, slice.skip), slice.take);
}

type Parts = { readonly usual: Ordering; readonly present: CountedWalk; readonly absent: CountedWalk };

/**
 * Splits the walk into objects with a value and objects without a value. The sort key has `nulls`, which places the
 * objects without a value at one end.
 */
function* partsOf({ orders, sort }: Ordering, walk: CountedWalk, first: SortKey): Steps<Parts> {
  const { sequence, low, high, bits, total } = walk;
  const cut = Math.min(high, Math.max(low, sequence.lower(missingKey(orders, first))));
  // An object without a value has only one posting, so no mark is needed.
  const without = { sequence, low: cut, high, mark: 0, bits };
  const count = yield* hitsIn(without, cut, high);
  return {
    usual: { orders, sort: [{ index: first.index, direction: first.direction }, ...sort.slice(1)] },
    present: { ...walk, high: cut, total: total - count },
    absent: { ...without, total: count },
  };
}

type PartSlice = { readonly slice: Slice; readonly first: SortKey };

function* slicedParts(ordering: Ordering, walk: CountedWalk, { slice, first }: PartSlice): Steps<readonly number[]> {
  const { usual, present, absent } = yield* partsOf(ordering, walk, first);
  const [leading, trailing] = first.nulls === 'first' ? [absent, present] : [present, absent];
  const found = yield* walkSlice(usual, leading, slice);
  const rest = { skip: Math.max(0, slice.skip - leading.total), take: slice.take - found.length };
  return found.concat(yield* walkSlice(usual, trailing, rest));
}

type PartPlace = { readonly place: OrderPlace; readonly first: SortKey };

function* countInParts(ordering: Ordering, walk: CountedWalk, { place, first }: PartPlace): Steps<number> {
  const { usual, present, absent } = yield* partsOf(ordering, walk, first);
  const isAbsent = place.keys[0] === undefined;
  const passed = isAbsent === (first.nulls === 'first') ? 0 : isAbsent ? present.total : absent.total;
  return passed + (yield* countInWalk(usual, isAbsent ? absent : present, place));
}

function isGrouped(sort: readonly SortKey[]): boolean {
  return sort.length > 1 || sort[0]?.direction === 'desc';
}

function* groupedSlice(ordering: Ordering, walk: CountedWalk, { skip, take }: Slice): Steps<readonly number[]> {
  const descending = ordering.sort[0]?.direction === 'desc';
  // Both directions have the same groups, so a descending query counts `skip` from the other end.
  const ascendingPlace = descending ? walk.total - 1 - skip : skip;
  const rank = yield* rankOfHit(walk, ascendingPlace);
  const group = groupOf(walk, walk.sequence.keyAt(rank));
  const before = descending
    ? walk.total - ascendingPlace - (yield* hitsIn(walk, rank, group.high))
    : ascendingPlace - (yield* hitsIn(walk, group.low, rank));
  const found: number[] = [];
  yield* append(found, yield* membersOf(ordering, group, { skip: skip - before, take }), take);
  if (found.length < take)
    yield* appendGroups(ordering, descending ? { ...walk, high: group.low } : { ...walk, low: group.high }, {
      found,
      take,
    });
  return found;
}

/** The part of a walk with the postings that have `key`. */
function groupOf({ sequence, low: first, high: end, mark, bits }: Walk, key: IndexKey): Walk {
  const low = Math.min(Math.max(first, sequence.lower(key)), end);
  const high = Math.min(end, Math.max(low, sequence.upper(key)));
  return { sequence, low, high, mark, bits };
}

function* membersOf({ orders, sort }: Ordering, group: Walk, slice: Slice): Steps<readonly number[]> {
  const rest = sort.slice(1);
  if (rest.length === 0) return yield* ordinalsFrom(group, yield* rankForward(group, slice.skip), slice.take);
  const members: Selected = { kind: 'listed', ordinals: yield* ordinalsFrom(group, group.low, Infinity) };
  return yield* sliceOf({ orders, sort: rest }, members, slice);
}

type Wanted = { readonly found: number[]; readonly take: number };

/** Adds the groups of `walk` to `found` in order, until `found` has `take` elements. */
function* appendGroups(ordering: Ordering, walk: Walk, wanted: Wanted): Steps<undefined> {
  const { sequence, low, high } = walk;
  const descending = ordering.sort[0]?.direction === 'desc';
  /** The ordinals with one key, in the order of the walk. */
  const group: number[] = [];
  let groupKey: IndexKey | undefined;
  for (const { chunk, from, to } of descending ? sequence.spansBackward(low, high) : sequence.spans(low, high)) {
    for (let passed = 0; passed < to - from && wanted.found.length < wanted.take; passed++) {
      const offset = descending ? to - 1 - passed : from + passed;
      const posting = chunk.ordinals[offset] ?? 0;
      if (!isHit(posting, walk)) continue;
      const key = sequence.keyIn(chunk, offset);
      if (key !== groupKey) yield* appendGroup(ordering, group.splice(0), wanted);
      groupKey = key;
      group.push(posting & ordinalMask);
    }
    if (wanted.found.length >= wanted.take) return;
    yield;
  }
  yield* appendGroup(ordering, group, wanted);
}

function* appendGroup({ orders, sort }: Ordering, group: number[], { found, take }: Wanted): Steps<undefined> {
  if (sort[0]?.direction === 'desc') group.reverse();
  const rest: Ordering = { orders, sort: sort.slice(1) };
  const isInOrder = rest.sort.length === 0 || group.length < 2;
  const slice: Slice = { skip: 0, take: take - found.length };
  yield* append(found, isInOrder ? group : yield* sliceOf(rest, { kind: 'listed', ordinals: group }, slice), take);
}

/** Adds elements to `found` until `found` has `take` elements. */
function* append(found: number[], more: readonly number[], take: number): Steps<undefined> {
  yield* inStrides(Math.min(more.length, take - found.length), (from, to) => {
    for (let index = from; index < to; index++) found.push(more[index] ?? 0);
  });
}

function keyOfRow(orders: OrdersView, { index, direction }: SortKey, ordinal: number): IndexKey {
  const column = orders.rows.columns[index];
  if (column === undefined) throw new RangeError(`the type has no index ${String(index)}`);
  return direction === 'asc' ? column.least(ordinal) : column.greatest(ordinal);
}

function missingKey(orders: OrdersView, { index }: SortKey): IndexKey {
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

function compareKeys(orders: OrdersView, key: SortKey, [a, b]: readonly [IndexKey, IndexKey]): number {
  if (a === b) return 0;
  if (key.nulls !== undefined) {
    const missing = missingKey(orders, key);
    if (a === missing || b === missing) return (a === missing) === (key.nulls === 'first') ? -1 : 1;
  }
  return a < b === (key.direction === 'asc') ? -1 : 1;
}
