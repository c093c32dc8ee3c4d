import type { Steps } from '../../base/steps.ts';
import type { ResourceObject } from '../../resource/object/object.ts';
import { storedObject } from '../../resource/object/shown-object.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';

/** The stored objects of types, which need not be registered. */
export type StoredRows = {
  /** Returns up to `limit` names, in the order of names, from the first after `after`. */
  namesOf(type: TypeKey, page: { readonly after: string | undefined; readonly limit: number }): readonly string[];
  get(type: TypeKey, name: string): { readonly bytes: Uint8Array } | undefined;
};

/** The names that are read at once. */
const pageNamesMax = 64;

/** Calls `take` for the names of a type after `after`, in the order of names, until `take` returns false. */
export function* eachName(
  rows: Pick<StoredRows, 'namesOf'>,
  { type, after }: { readonly type: TypeKey; readonly after?: string | undefined },
  take: (name: string) => unknown,
): Steps<undefined> {
  let last = after;
  do {
    const names = rows.namesOf(type, { after: last, limit: pageNamesMax });
    for (const name of names) {
      if (take(name) === false) return;
      yield;
    }
    last = names.at(-1);
  } while (last !== undefined);
}

/** Returns the object as it is stored now; undefined if it does not exist. */
export function storedIn(rows: Pick<StoredRows, 'get'>, type: TypeKey, name: string): ResourceObject | undefined {
  const row = rows.get(type, name);
  return row === undefined ? undefined : storedObject(row.bytes);
}
