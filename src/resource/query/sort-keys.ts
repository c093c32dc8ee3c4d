import { sortKeysMax } from '../../limits/lists.ts';
import { stringKey } from '../type/index-key.ts';
import { indexOf, type FieldRequirement, type IndexRequirement, type SortKey } from './list-query.ts';
import type { IndexDefinition } from '../type/resource-type.ts';

/** Binds selectors and sorts to the indexes of a type. Only indexed values can be used (seed 2.6). */

export type BoundFields =
  | { readonly ok: true; readonly requirements: readonly IndexRequirement[] }
  | { readonly ok: false; readonly problem: string };

export function bindFields(
  requirements: readonly FieldRequirement[],
  indexes: readonly IndexDefinition[],
): BoundFields {
  const bound: IndexRequirement[] = [];
  for (const requirement of requirements) {
    const place = indexOf(indexes, requirement.field);
    const index = place === undefined ? undefined : indexes[place];
    if (place === undefined || index === undefined)
      return { ok: false, problem: `fieldSelector: ${notSupported(requirement.field, indexes)}` };
    if (requirement.operator === '^=' && index.type !== 'string') {
      return {
        ok: false,
        problem:
          'fieldSelector: "^=" compares strings, but the values of ' +
          `${JSON.stringify(index.name)} are ${index.type}s`,
      };
    }
    bound.push(bind(requirement, place, index));
  }
  return { ok: true, requirements: bound };
}

function bind(requirement: FieldRequirement, place: number, index: IndexDefinition): IndexRequirement {
  switch (requirement.operator) {
    case 'exists':
    case 'absent':
      return { index: place, operator: requirement.operator };
    case 'in':
    case 'notIn':
      return {
        index: place,
        operator: requirement.operator,
        keys: requirement.values.map(index.keyOf).filter((key) => key !== undefined),
      };
    case '^=':
      return { index: place, operator: '^=', prefix: stringKey(requirement.value) };
    case '<':
    case '<=':
    case '>':
    case '>=': {
      const key = index.keyOf(requirement.value);
      // No value is less or greater than an invalid operand, so the condition matches no object.
      return key === undefined
        ? { index: place, operator: 'in', keys: [] }
        : { index: place, operator: requirement.operator, key };
    }
  }
}

export type ParsedSort =
  { readonly ok: true; readonly sort: readonly SortKey[] } | { readonly ok: false; readonly problem: string };

/**
 * Parses the sort parameters. Each text has the form `<field>[,asc|desc][,nulls=first|last]`; the first has the highest
 * precedence.
 */
export function parseSort(texts: readonly string[], indexes: readonly IndexDefinition[]): ParsedSort {
  const given = texts.filter((text) => text.trim() !== '');
  if (given.length > sortKeysMax) return { ok: false, problem: `sort: at most ${String(sortKeysMax)} fields` };
  const sort: SortKey[] = [];
  for (const text of given) {
    // Splits off at most one part more than allowed, which is enough to detect an error in a long text.
    const [field = '', ...parts] = text.split(',', 4).map((part) => part.trim());
    const place = indexOf(indexes, field);
    const order = place === undefined ? undefined : indexes[place]?.order;
    if (place === undefined || order === undefined) return { ok: false, problem: `sort: ${noIndex(field, indexes)}` };
    const modifiers = modifiersOf(parts);
    if (modifiers === undefined) {
      return { ok: false, problem: `sort: after ${JSON.stringify(shown(field))} ${expected}` };
    }
    sort.push(keyOf(place, modifiers.direction ?? (order === 'ASC' ? 'asc' : 'desc'), modifiers.nulls));
  }
  return { ok: true, sort };
}

const expected = '"asc" or "desc" is expected, then "nulls=first" or "nulls=last"; either may be missing';

type Modifiers = { readonly direction?: SortKey['direction']; readonly nulls?: 'first' | 'last' };

const directions: ReadonlyMap<string, Modifiers> = new Map([
  ['asc', { direction: 'asc' }],
  ['desc', { direction: 'desc' }],
]);
const nulls: ReadonlyMap<string, Modifiers> = new Map([
  ['nulls=first', { nulls: 'first' }],
  ['nulls=last', { nulls: 'last' }],
]);

/**
 * Returns the modifiers of a sort; undefined for an unknown or repeated modifier, and for modifiers in the wrong order.
 */
function modifiersOf(parts: readonly string[]): Modifiers | undefined {
  const [first, second, ...more] = parts.map((part) => part.toLowerCase());
  if (first === undefined) return {};
  if (second === undefined) return directions.get(first) ?? nulls.get(first);
  const [direction, place] = [directions.get(first), nulls.get(second)];
  return more.length > 0 || direction === undefined || place === undefined ? undefined : { ...direction, ...place };
}

function keyOf(index: number, direction: SortKey['direction'], place: SortKey['nulls']): SortKey {
  const usual = direction === 'asc' ? 'last' : 'first';
  return place === undefined || place === usual ? { index, direction } : { index, direction, nulls: place };
}

/** Returns the refusal in Kubernetes' words, because clients of Kubernetes search for these words. */
function notSupported(field: string, indexes: readonly IndexDefinition[]): string {
  const label = JSON.stringify(shown(field)).slice(1, -1);
  return `field label not supported: ${label}; ${indexedFields(indexes)}`;
}

function noIndex(field: string, indexes: readonly IndexDefinition[]): string {
  return `${JSON.stringify(shown(field))} has no index; ${indexedFields(indexes)}`;
}

function indexedFields(indexes: readonly IndexDefinition[]): string {
  return `the indexed fields are ${indexes.map(({ name }) => name).join(', ')}`;
}

/** Returns the field for a message. A long field is truncated. */
function shown(field: string): string {
  return field.length > 128 ? `${field.slice(0, 128)}…` : field;
}
