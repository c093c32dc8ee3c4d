import { sortKeysMax } from '../../limits/lists.ts';
import { indexedFields, truncatedField } from './bind-fields.ts';
import { indexOf, type SortKey } from './list-query.ts';
import type { IndexDefinition } from '../type/resource-type.ts';

export type ParsedSort =
  { readonly ok: true; readonly sort: readonly SortKey[] } | { readonly ok: false; readonly problem: string };

/**
 * Parses the sort parameters. Each text has the form `<field>[,asc|desc][,nulls=first|last]`. The first text has the
 * highest precedence.
 */
export function parseSort(texts: readonly string[], indexes: readonly IndexDefinition[]): ParsedSort {
  const given = texts.filter((text) => text.trim() !== '');
  if (given.length > sortKeysMax) return { ok: false, problem: `sort: at most ${String(sortKeysMax)} fields` };
  const sort: SortKey[] = [];
  for (const text of given) {
    // At most three parts are allowed. The text may be long, so the split stops at a fourth part, which is refused.
    const [field = '', ...parts] = text.split(',', 4).map((part) => part.trim());
    const place = indexOf(indexes, field);
    const order = place === undefined ? undefined : indexes[place]?.order;
    if (place === undefined || order === undefined) return { ok: false, problem: `sort: ${noIndex(field, indexes)}` };
    const modifiers = modifiersOf(parts);
    if (modifiers === undefined) {
      return { ok: false, problem: `sort: after ${JSON.stringify(truncatedField(field))} ${expected}` };
    }
    sort.push(keyOf(place, modifiers.direction ?? (order === 'ASC' ? 'asc' : 'desc'), modifiers.nulls));
  }
  return { ok: true, sort };
}

const expected = '"asc" or "desc" is expected, then "nulls=first" or "nulls=last"; either may be missing';

type Modifiers = {
  readonly direction?: SortKey['direction'];
  readonly nulls?: 'first' | 'last';
};

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

function noIndex(field: string, indexes: readonly IndexDefinition[]): string {
  return `${JSON.stringify(truncatedField(field))} has no index; ${indexedFields(indexes)}`;
}
