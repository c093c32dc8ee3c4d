import type { RemoteClient } from 'ledgerplane/client';

import { apiPath, type ServedType } from '../../../server/served-types.ts';
import { isList, valueAt } from '../form/pointer.ts';
import { escapedValue } from '../names/escaped-value.ts';
import type { Json } from '../object/editable.ts';

/** Each value costs a request for one object. */
const valuesMax = 8;

type Wanted = {
  readonly field: string;
  /** The pointer of the values in objects. */
  readonly pointer: string;
  readonly prefix: string;
  /** Whether the index compares texts; only those have prefixes. */
  readonly isText: boolean;
  readonly signal: AbortSignal;
};

/**
 * Returns the first different values of an indexed field that begin with a prefix, in the order of the index. Each
 * request reads the first object behind the last value.
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

/** A field may have several values, of which the least decides the order. */
function valuesIn(value: Json | undefined): readonly string[] {
  const values = isList(value) ? value : [value ?? null];
  return values
    .filter((each) => each !== null && typeof each !== 'object')
    .map((each) => String(each))
    .toSorted();
}
