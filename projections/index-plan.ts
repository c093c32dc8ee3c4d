import type { IndexRequirement, LabelRequirement, Selection, SortKey } from '../src/resource/list-query.ts';
import { matchesKeys, matchesLabels } from '../src/resource/match.ts';
import { clearBit, countBits, emptyBits, setBit, type Bits } from './index-bits.ts';
import { labelTerm, type Orders } from './index-orders.ts';
import { ordinalMask, type OrderedSequence } from './ordered-sequence.ts';

/** The objects a query selects, before they are put in order. */
export type Selected =
  | { readonly kind: 'all' }
  /** Those at `low` up to `high` in `sequence`, each once: a part of the order that is asked for. */
  | { readonly kind: 'range'; readonly sequence: OrderedSequence; readonly low: number; readonly high: number }
  | { readonly kind: 'bits'; readonly bits: Bits; readonly total: number }
  /** So few that they are sorted by themselves. */
  | { readonly kind: 'listed'; readonly ordinals: readonly number[] };

type Range = { readonly low: number; readonly high: number };

/** One requirement as what it is in its order: ranges of ranks, or, when `negated`, all but them. */
type Condition = {
  readonly sequence: OrderedSequence;
  readonly ranges: readonly Range[];
  readonly negated: boolean;
  /** Postings in the ranges. */
  readonly count: number;
  /** All postings in the ranges have one key. */
  readonly oneKey: boolean;
  /** The index, where each object has exactly one posting in the order. */
  readonly singleIndex: number | undefined;
  readonly holds: (ordinal: number) => boolean;
};

export function select(orders: Orders, selection: Selection, sort: readonly SortKey[]): Selected {
  const conditions = [
    ...selection.labels.map((requirement) => labelCondition(orders, requirement)),
    ...selection.fields.map((requirement) => fieldCondition(orders, requirement)),
  ];
  if (conditions.length === 0) return { kind: 'all' };
  conditions.sort((a, b) => Number(a.negated) - Number(b.negated) || a.count - b.count);
  const [driver, ...others] = conditions;
  if (driver === undefined) return { kind: 'all' };
  if (!driver.negated && others.length === 0) {
    const range = rangeInOrder(driver, sort);
    if (range !== undefined) return range;
  }
  if (!driver.negated && driver.count <= testedMax) return { kind: 'listed', ordinals: tested(driver, others) };
  const bits = driver.negated ? without(orders.rows.live(), driver) : marked(driver, orders.rows.capacity);
  const selected = others.reduce((narrowed, condition) => (condition.negated ? without(narrowed, condition) : within(narrowed, condition)), bits);
  return { kind: 'bits', bits: selected, total: countBits(selected) };
}

/** Up to this many candidates, asking each about the other conditions costs less than marking what those hold for. */
const testedMax = 2_048;

/** A condition that is a part of the very order asked for needs no set at all. */
function rangeInOrder({ ranges, sequence, oneKey, singleIndex }: Condition, sort: readonly SortKey[]): Selected | undefined {
  const [range, ...others] = ranges;
  if (range === undefined) return { kind: 'listed', ordinals: [] };
  if (others.length > 0) return undefined;
  const inOrder = sort.length === 0 ? oneKey : singleIndex !== undefined && sort[0]?.index === singleIndex;
  return inOrder ? { kind: 'range', sequence, ...range } : undefined;
}

function tested(driver: Condition, others: readonly Condition[]): readonly number[] {
  const ordinals = new Set<number>();
  eachSpan(driver, (postings) => {
    for (const posting of postings) {
      const ordinal = posting & ordinalMask;
      if (others.every((condition) => condition.holds(ordinal))) ordinals.add(ordinal);
    }
  });
  return [...ordinals];
}

function marked(condition: Condition, capacity: number): Bits {
  const bits = emptyBits(capacity);
  eachSpan(condition, (postings) => { setBits(bits, postings); });
  return bits;
}

function without(bits: Bits, condition: Condition): Bits {
  eachSpan(condition, (postings) => { clearBits(bits, postings); });
  return bits;
}

function within(bits: Bits, condition: Condition): Bits {
  const both = new Uint32Array(bits.length);
  eachSpan(condition, (postings) => { copyBits(bits, both, postings); });
  return both;
}

function eachSpan({ sequence, ranges }: Condition, visit: (postings: Uint32Array) => void): void {
  for (const { low, high } of ranges) {
    sequence.spans(low, high, ({ ordinals }, from, to) => {
      visit(ordinals.subarray(from, to));
      return true;
    });
  }
}

function setBits(bits: Bits, postings: Uint32Array): void {
  for (let place = 0; place < postings.length; place++) setBit(bits, (postings[place] ?? 0) & ordinalMask);
}

function clearBits(bits: Bits, postings: Uint32Array): void {
  for (let place = 0; place < postings.length; place++) clearBit(bits, (postings[place] ?? 0) & ordinalMask);
}

function copyBits(from: Bits, to: Bits, postings: Uint32Array): void {
  for (let place = 0; place < postings.length; place++) {
    const ordinal = (postings[place] ?? 0) & ordinalMask;
    const word = ordinal >>> 5;
    to[word] = (to[word] ?? 0) | (from[word] ?? 0) & 1 << (ordinal & 31);
  }
}

function labelCondition({ byLabel: sequence, rows }: Orders, requirement: LabelRequirement): Condition {
  const holds = (ordinal: number): boolean => matchesLabels(requirement, rows.labels(ordinal));
  const negated = requirement.operator === 'notIn' || requirement.operator === 'absent';
  const ranges = requirement.operator === 'in' || requirement.operator === 'notIn'
    ? requirement.values.map((value) => keyRange(sequence, labelTerm(requirement.key, value)))
    : [{ low: sequence.lower(labelTerm(requirement.key, '')), high: sequence.lower(`${requirement.key}\u0001`) }];
  const oneKey = requirement.operator === 'in' && requirement.values.length === 1;
  return { sequence, negated, oneKey, singleIndex: undefined, holds, ...counted(ranges) };
}

function fieldCondition(orders: Orders, requirement: IndexRequirement): Condition {
  const sequence = orders.byIndex[requirement.index];
  const column = orders.rows.columns[requirement.index];
  if (sequence === undefined || column === undefined) throw new RangeError(`there is no index at ${String(requirement.index)}`);
  const { ranges, count } = counted(fieldRanges(sequence, sequence.lower(column.missing), requirement));
  const negated = requirement.operator === 'notIn';
  const holds = (ordinal: number): boolean => matchesKeys(requirement, column.keys(ordinal));
  const oneKey = requirement.operator === 'absent' || (requirement.operator === 'in' && requirement.keys.length === 1);
  if (orders.multi[requirement.index] === true) return { sequence, ranges, count, negated, oneKey, singleIndex: undefined, holds };
  const singleIndex = requirement.index;
  // Where every object has one posting, the fewer of those inside and outside say the same.
  if (count <= sequence.size / 2) return { sequence, ranges, count, negated, oneKey, singleIndex, holds };
  if (!negated && ranges.length === 1) return { sequence, ranges, count, negated, oneKey, singleIndex, holds };
  return { sequence, ...counted(outside(ranges, sequence.size)), negated: !negated, oneKey: false, singleIndex, holds };
}

/** `present`: the rank after the last posting with a value. */
function fieldRanges(sequence: OrderedSequence, present: number, requirement: IndexRequirement): readonly Range[] {
  switch (requirement.operator) {
    case 'in':
    case 'notIn': return [...new Set(requirement.keys)].map((key) => keyRange(sequence, key));
    case 'exists': return [{ low: 0, high: present }];
    case 'absent': return [{ low: present, high: sequence.size }];
    case '<': return [{ low: 0, high: sequence.lower(requirement.key) }];
    case '<=': return [{ low: 0, high: sequence.upper(requirement.key) }];
    case '>': return [{ low: sequence.upper(requirement.key), high: present }];
    case '>=': return [{ low: sequence.lower(requirement.key), high: present }];
    case '^=': return [requirement.prefix === '' ? { low: 0, high: present } : { low: sequence.lower(requirement.prefix), high: sequence.beyondPrefix(requirement.prefix) }];
  }
}

function keyRange(sequence: OrderedSequence, key: string | number): Range {
  return { low: sequence.lower(key), high: sequence.upper(key) };
}

function counted(ranges: readonly Range[]): { readonly ranges: readonly Range[]; readonly count: number } {
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
