import { strideMax, type Steps } from '../../src/base/steps.ts';
import type { IndexRequirement, LabelRequirement, Selection, SortKey } from '../../src/resource/query/list-query.ts';
import { matchesKeys, matchesLabels } from '../../src/resource/query/selection-match.ts';
import { clearBit, countBits, emptyBits, setBit, type Bits } from './index-bits.ts';
import { labelTerm, type OrdersView } from './index-orders.ts';
import { inSpans } from './index-walk.ts';
import { ordinalMask, type OrderView } from './order-view.ts';

/** The objects that a query selects, before sorting. */
export type Selected =
  | { readonly kind: 'all' }
  /**
   * The postings from rank `low` to `high` (exclusive) in `sequence`. Each object has one posting in the range, and the
   * postings are in the requested order.
   */
  | { readonly kind: 'range'; readonly sequence: OrderView; readonly low: number; readonly high: number }
  | { readonly kind: 'bits'; readonly bits: Bits; readonly total: number }
  | { readonly kind: 'listed'; readonly ordinals: readonly number[] };

type Range = {
  readonly low: number;
  readonly high: number;
};

/**
 * A requirement as ranges of ranks in the order of an index or of the labels. `negated`: the requirement selects all
 * objects without a posting in the ranges.
 */
type Condition = {
  readonly sequence: OrderView;
  readonly ranges: readonly Range[];
  readonly negated: boolean;
  /** The number of postings in the ranges. */
  readonly count: number;
  /** Whether all postings in the ranges have the same key. */
  readonly oneKey: boolean;
  /** The index of the requirement, if each object has exactly one posting in the order of the index. */
  readonly singleIndex: number | undefined;
  readonly holds: (ordinal: number) => boolean;
};

export function* select(orders: OrdersView, selection: Selection, sort: readonly SortKey[]): Steps<Selected> {
  const conditions = yield* conditionsOf(orders, selection);
  conditions.sort((a, b) => Number(a.negated) - Number(b.negated) || a.count - b.count);
  const [driver, ...others] = conditions;
  if (driver === undefined) return { kind: 'all' };
  if (!driver.negated && others.length === 0) {
    const range = rangeInOrder(driver, sort);
    if (range !== undefined) return range;
  }
  if (!driver.negated && driver.count <= testedMax) return { kind: 'listed', ordinals: yield* tested(driver, others) };
  const bits = yield* allHolding(orders, driver, others);
  return { kind: 'bits', bits, total: countBits(bits) };
}

function* allHolding(orders: OrdersView, driver: Condition, others: readonly Condition[]): Steps<Bits> {
  let bits = driver.negated ? yield* everything(orders, 1 + others.length) : emptyBits(orders.rows.capacity);
  if (driver.negated) yield* cleared(bits, driver);
  else yield* marked(bits, driver);
  for (const condition of others) {
    if (condition.negated) yield* cleared(bits, condition);
    else bits = yield* within(bits, condition);
  }
  return bits;
}

function* everything({ rows, byDefault }: OrdersView, conditions: number): Steps<Bits> {
  // Reading the rows directly is faster, but is correct only before the first `yield`, and only while no removed row is
  // retained for another view: only then do the rows have the state of this view.
  if (conditions <= conditionsPerStep && rows.views.retired === 0) return rows.live();
  const bits = emptyBits(rows.capacity);
  yield* marked(bits, { sequence: byDefault, ranges: [{ low: 0, high: byDefault.size }] });
  return bits;
}

/** The maximum number of conditions built in one step, since a condition may need a few hundred searches. */
const conditionsPerStep = 4;

function* conditionsOf(orders: OrdersView, { labels, fields }: Selection): Steps<Condition[]> {
  const conditions: Condition[] = [];
  for (const make of [
    ...labels.map((requirement) => () => labelCondition(orders, requirement)),
    ...fields.map((requirement) => () => fieldCondition(orders, requirement)),
  ]) {
    if (conditions.length > 0 && conditions.length % conditionsPerStep === 0) yield;
    conditions.push(make());
  }
  return conditions;
}

/** The maximum number of candidates for which checking each candidate is cheaper than marking all matching objects. */
const testedMax = 2_048;

/**
 * Returns the range of the requested order that contains exactly the condition's objects. Returns undefined if there is
 * no such range, and an empty list if there are no objects.
 */
function rangeInOrder(
  { ranges, sequence, oneKey, singleIndex }: Condition,
  sort: readonly SortKey[],
): Selected | undefined {
  const [range, ...others] = ranges;
  if (range === undefined) return { kind: 'listed', ordinals: [] };
  if (others.length > 0) return undefined;
  const inOrder = sort.length === 0 ? oneKey : singleIndex !== undefined && sort[0]?.index === singleIndex;
  return inOrder ? { kind: 'range', sequence, ...range } : undefined;
}

function* tested(driver: Condition, others: readonly Condition[]): Steps<readonly number[]> {
  const candidates: number[] = [];
  yield* eachSpan(driver, (postings) => {
    for (const posting of postings) candidates.push(posting & ordinalMask);
  });
  const ordinals = new Set<number>();
  let checked = 0;
  for (const ordinal of candidates) {
    if (others.every((condition) => condition.holds(ordinal))) ordinals.add(ordinal);
    checked += 1 + others.length;
    if (checked < strideMax) continue;
    checked = 0;
    yield;
  }
  return [...ordinals];
}

function* marked(bits: Bits, part: Part): Steps<undefined> {
  yield* eachSpan(part, (postings) => {
    setBits(bits, postings);
  });
}

function* cleared(bits: Bits, part: Part): Steps<undefined> {
  yield* eachSpan(part, (postings) => {
    clearBits(bits, postings);
  });
}

function* within(bits: Bits, part: Part): Steps<Bits> {
  const both = new Uint32Array(bits.length);
  yield* eachSpan(part, (postings) => {
    copyBits(bits, both, postings);
  });
  return both;
}

type Part = Pick<Condition, 'sequence' | 'ranges'>;

function* eachSpan({ sequence, ranges }: Part, visit: (postings: Uint32Array) => void): Steps<undefined> {
  for (const { low, high } of ranges) {
    yield* inSpans(sequence.spans(low, high), ({ chunk: { ordinals }, from, to }) => {
      visit(ordinals.subarray(from, to));
    });
  }
}

function setBits(bits: Bits, postings: Uint32Array): void {
  for (let index = 0; index < postings.length; index++) setBit(bits, (postings[index] ?? 0) & ordinalMask);
}

function clearBits(bits: Bits, postings: Uint32Array): void {
  for (let index = 0; index < postings.length; index++) clearBit(bits, (postings[index] ?? 0) & ordinalMask);
}

function copyBits(from: Bits, to: Bits, postings: Uint32Array): void {
  for (let index = 0; index < postings.length; index++) {
    const ordinal = (postings[index] ?? 0) & ordinalMask;
    const word = ordinal >>> 5;
    to[word] = (to[word] ?? 0) | ((from[word] ?? 0) & (1 << (ordinal & 31)));
  }
}

function labelCondition({ byLabel: sequence, rows }: OrdersView, requirement: LabelRequirement): Condition {
  const holds = (ordinal: number): boolean => matchesLabels(requirement, rows.labels(ordinal));
  const negated = requirement.operator === 'notIn' || requirement.operator === 'absent';
  const ranges =
    requirement.operator === 'in' || requirement.operator === 'notIn'
      ? requirement.values.map((value) => keyRange(sequence, labelTerm(requirement.key, value)))
      : [{ low: sequence.lower(labelTerm(requirement.key, '')), high: sequence.lower(`${requirement.key}\u0001`) }];
  const oneKey = requirement.operator === 'in' && requirement.values.length === 1;
  return { sequence, negated, oneKey, singleIndex: undefined, holds, ...counted(ranges) };
}

function fieldCondition(orders: OrdersView, requirement: IndexRequirement): Condition {
  const sequence = orders.byIndex[requirement.index];
  const column = orders.rows.columns[requirement.index];
  if (sequence === undefined || column === undefined)
    throw new RangeError(`the type has no index ${String(requirement.index)}`);
  const { ranges, count } = counted(fieldRanges(sequence, sequence.lower(column.missing), requirement));
  const negated = requirement.operator === 'notIn';
  const holds = (ordinal: number): boolean => matchesKeys(requirement, column.keys(ordinal));
  const oneKey = requirement.operator === 'absent' || (requirement.operator === 'in' && requirement.keys.length === 1);
  if (orders.multi[requirement.index] === true)
    return { sequence, ranges, count, negated, oneKey, singleIndex: undefined, holds };
  const singleIndex = requirement.index;
  // Every object has one posting, so a condition can also be tested by the objects outside its ranges. The smaller set
  // is used. A single range is kept, because it may be in the requested order.
  if (count <= sequence.size / 2) return { sequence, ranges, count, negated, oneKey, singleIndex, holds };
  if (!negated && ranges.length === 1) return { sequence, ranges, count, negated, oneKey, singleIndex, holds };
  return {
    sequence,
    ...counted(outside(ranges, sequence.size)),
    negated: !negated,
    oneKey: false,
    singleIndex,
    holds,
  };
}

/** `present`: the number of postings with a value, which is the rank of the first posting without a value. */
function fieldRanges(sequence: OrderView, present: number, requirement: IndexRequirement): readonly Range[] {
  switch (requirement.operator) {
    case 'in':
    case 'notIn':
      return [...new Set(requirement.keys)].map((key) => keyRange(sequence, key));
    case 'exists':
      return [{ low: 0, high: present }];
    case 'absent':
      return [{ low: present, high: sequence.size }];
    case '<':
      return [{ low: 0, high: sequence.lower(requirement.key) }];
    case '<=':
      return [{ low: 0, high: sequence.upper(requirement.key) }];
    case '>':
      return [{ low: sequence.upper(requirement.key), high: present }];
    case '>=':
      return [{ low: sequence.lower(requirement.key), high: present }];
    case '^=':
      return [
        requirement.prefix === ''
          ? { low: 0, high: present }
          : { low: sequence.lower(requirement.prefix), high: sequence.beyondPrefix(requirement.prefix) },
      ];
  }
}

function keyRange(sequence: OrderView, key: string | number): Range {
  return { low: sequence.lower(key), high: sequence.upper(key) };
}

type CountedRanges = {
  readonly ranges: readonly Range[];
  readonly count: number;
};

function counted(ranges: readonly Range[]): CountedRanges {
  const filled = ranges.filter(({ low, high }) => low < high).sort((a, b) => a.low - b.low);
  return { ranges: filled, count: filled.reduce((sum, { low, high }) => sum + high - low, 0) };
}

function outside(ranges: readonly Range[], size: number): readonly Range[] {
  const gaps: Range[] = [];
  let low = 0;
  for (const range of ranges) {
    gaps.push({ low, high: range.low });
    low = range.high;
  }
  return [...gaps, { low, high: size }];
}
