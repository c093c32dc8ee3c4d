import type { RemoteClient } from 'ledgerplane/client';

import { apiPath, type ServedType } from '../../../server/served-types.ts';
import { isList, valueAt } from '../form/pointer.ts';
import { escapedValue } from '../names/escaped-value.ts';
import type { Json } from '../object/editable.ts';

/** The maximum number of suggested values. Each value costs a request for one object. */
const valuesMax = 8;

type Wanted = {
  readonly field: string;
  /** The JSON pointer of the field in objects. */
  readonly pointer: string;
  readonly prefix: string;
  /** Whether the index compares texts. Only texts have prefixes. */
  readonly isText: boolean;
  readonly signal: AbortSignal;
};

/**
 * Returns the first distinct values of an indexed field that begin with a prefix, in the order of the index. Each
 * request reads the first object after the last value.
 */
export async function fieldValues(client: RemoteClient, type: ServedType, wanted: Wanted): Promise<readonly string[]> {
  const { field, pointer, prefix, isText, signal } = wanted;
  const found = new Set<string>();
  let last: string | undefined;
  const isNext = (value: string): boolean => !found.has(value) && (!isText || value.startsWith(prefix));
  while (found.size < valuesMax) {
    const selectors = [
      field,
      ...(prefix === '' || !isText ? [] : [`${field}^=${escapedValue(prefix)}`]),
      ...(last === undefined ? [] : [`${field}>${escapedValue(last)}`]),
    ];
    const query = { fieldSelector: selectors.join(','), sort: `${field},asc`, limit: 1 };
    const list = await client.request<{ readonly items: readonly Json[] }>(apiPath(type), { query, signal });
    const [object] = list?.items ?? [];
    const next = object === undefined ? undefined : valuesIn(valueAt(object, pointer)).find((value) => isNext(value));
    if (next === undefined) break;
    last = next;
    found.add(next);
  }
  return [...found];
}

/** Returns the values of a field. If there are several, the smallest value determines the order. */
function valuesIn(value: Json | undefined): readonly string[] {
  const values = isList(value) ? value : [value ?? null];
  return values
    .filter((each) => each !== null && typeof each !== 'object')
    .map((each) => String(each))
    .toSorted();
}
