import type { IndexKey } from '../../../../src/resource/type/index-entry.ts';
import type { IndexRequirement, LabelRequirement, Selection } from '../../../../src/resource/query/list-query.ts';
import { labelTerm } from '../../../index/index-orders.ts';
import type { KeyDictionary } from '../segment/key-dictionary.ts';
import type { Segment, SegmentColumn } from '../segment/segment.ts';

type IdRange = readonly [low: number, high: number];

/**
 * A requirement of a selection, as ranges of ids in the dictionary of a column's keys. A row meets the condition if the
 * row has an id in one of the ranges; if `negated`, a row without such an id meets the condition.
 */
type ColumnCondition = {
  readonly column: number;
  readonly negated: boolean;
  readonly ranges: (keys: KeyDictionary) => readonly IdRange[];
};

/** The conditions of a selection. `labels`: the place of the column of labels. */
export function conditionsOf(selection: Selection, labels: number): readonly ColumnCondition[] {
  return [
    ...selection.labels.map((requirement) => labelCondition(requirement, labels)),
    ...selection.fields.map(fieldCondition),
  ];
}

function labelCondition(requirement: LabelRequirement, column: number): ColumnCondition {
  const { key, operator } = requirement;
  if (operator === 'in' || operator === 'notIn') {
    const terms = requirement.values.map((value) => labelTerm(key, value));
    return {
      column,
      negated: operator === 'notIn',
      ranges: (keys) => equalTo(keys, terms),
    };
  }
  const ranges = (keys: KeyDictionary): readonly IdRange[] => [
    [keys.lower(labelTerm(key, '')), keys.lower(`${key}\u0001`)],
  ];
  return { column, negated: operator === 'absent', ranges };
}

function fieldCondition(requirement: IndexRequirement): ColumnCondition {
  const { operator, index: column } = requirement;
  return {
    column,
    negated: operator === 'notIn' || operator === 'absent',
    ranges: (keys) => idsOf(keys, requirement),
  };
}

function idsOf(keys: KeyDictionary, requirement: IndexRequirement): readonly IdRange[] {
  const { size } = keys;
  switch (requirement.operator) {
    case 'in':
    case 'notIn':
      return equalTo(keys, requirement.keys);
    case 'exists':
    case 'absent':
      return [[0, size]];
    case '<':
      return [[0, keys.lower(requirement.key)]];
    case '<=':
      return [[0, after(keys, requirement.key)]];
    case '>':
      return [[after(keys, requirement.key), size]];
    case '>=':
      return [[keys.lower(requirement.key), size]];
    case '^=':
      return [[keys.lower(requirement.prefix), beyondPrefix(keys, requirement.prefix)]];
  }
}

function equalTo(keys: KeyDictionary, wanted: readonly IndexKey[]): readonly IdRange[] {
  return wanted.map((key) => [keys.lower(key), after(keys, key)]);
}

function after(keys: KeyDictionary, key: IndexKey): number {
  const low = keys.lower(key);
  return low < keys.size && keys.key(low) === key ? low + 1 : low;
}

/** Returns the id of the first key after `prefix` and after all keys that start with `prefix`. */
function beyondPrefix(keys: KeyDictionary, prefix: string): number {
  let low = keys.lower(prefix);
  let high = keys.size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (String(keys.key(middle)).startsWith(prefix)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Sets `holding` to 0 for each row that does not meet all conditions. Before the call, `holding` has 1 for each row to
 * check.
 */
export function keepHolding(segment: Segment, conditions: readonly ColumnCondition[], holding: Uint8Array): void {
  for (const { column, negated, ranges } of conditions) {
    if (!holding.includes(1)) return;
    const values = segment.column(column);
    keepWanted(holding, values, { isWanted: idTest(ranges(values.keys), values.keys.size), negated });
  }
}

type Kept = {
  readonly isWanted: (id: number) => boolean;
  readonly negated: boolean;
};

function keepWanted(holding: Uint8Array, { starts, ids }: SegmentColumn, { isWanted, negated }: Kept): void {
  for (let row = 0; row < holding.length; row++) {
    if (holding[row] === 0) continue;
    let found = false;
    const end = starts === undefined ? row + 1 : (starts.at(row + 1) ?? 0);
    for (let at = starts?.at(row) ?? row; at < end && !found; at++) found = isWanted(ids.at(at));
    if (found === negated) holding[row] = 0;
  }
}

/** The maximum number of ranges for which comparing with each range is faster than a look-up in an array. */
const rangesComparedMax = 2;

/** Returns a function that tests whether an id is in one of the ranges. `size`: the number of ids. */
function idTest(ranges: readonly IdRange[], size: number): (id: number) => boolean {
  const some = ranges.filter(([low, high]) => low < high);
  if (some.length <= rangesComparedMax) return (id) => some.some(([low, high]) => low <= id && id < high);
  const wanted = new Uint8Array(size + 1);
  for (const [low, high] of some) wanted.fill(1, low, high);
  return (id) => wanted[id] === 1;
}
