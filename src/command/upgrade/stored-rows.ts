import type { Steps } from '../../base/steps.ts';
import { storedObject } from '../../resource/object/shown-object.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import type { Conversion } from '../../resource/type/versions/convert.ts';
import { currentConversion } from '../../resource/type/versions/shown-version.ts';

/** A range of names in ascending order. */
export type NameRange = {
  /** The range starts after this name; undefined starts with the first name. */
  readonly after: string | undefined;
  readonly limit: number;
};

/** The stored objects of all types, including types that are not registered. */
export type StoredRows = {
  /** Returns at most `limit` names in ascending order, beginning with the first name after `after`. */
  namesOf(type: TypeKey, range: NameRange): readonly string[];
  get(type: TypeKey, name: string): { readonly bytes: Uint8Array } | undefined;
};

/** The number of names that are read at once. */
const pageNamesMax = 64;

/** Calls `take` for each name of a type after `after`, in ascending order, until `take` returns false. */
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

/**
 * Returns a stored object in the preferred version of `type`, with defaults; undefined for a missing object. The
 * conversion of an object in an earlier version may fail.
 */
export function storedIn(rows: Pick<StoredRows, 'get'>, type: ResourceType, name: string): Conversion | undefined {
  const row = rows.get(type.key, name);
  return row === undefined ? undefined : currentConversion(storedObject(row.bytes), type);
}
