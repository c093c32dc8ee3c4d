import { createHash } from 'node:crypto';

import { entryOfFact, nameIndex } from './index-definition.ts';
import type { IndexEntry, IndexKey } from './index-entry.ts';
import { textOfKey } from './index-key.ts';
import type { ResourceObject } from '../object/object.ts';
import type { IndexDefinition } from './resource-type.ts';

/**
 * A unique value of an object, in the form that identifies its claim: the name of the index, and the SHA-256 (hex) of
 * the value's readable form.
 */
export type HeldValue = {
  readonly index: string;
  readonly hash: string;
};

/**
 * Returns the unique values of an object except `metadata.name`, in the order in which all writers take claims.
 * Includes the values of the indexes in `onceUnique`, which an earlier declaration declared unique. `keys` has the
 * object's keys in each index of `indexes`.
 */
export function heldValues(
  indexes: readonly IndexDefinition[],
  keys: IndexEntry['keys'],
  onceUnique?: ReadonlySet<string>,
): readonly HeldValue[] {
  const values: HeldValue[] = [];
  for (let place = 0; place < indexes.length; place++) {
    const index = indexes[place];
    if (index === undefined || index.name === nameIndex) continue;
    if (!index.unique && onceUnique?.has(index.name) !== true) continue;
    for (const key of keys[place] ?? []) values.push(heldValue(index, key));
  }
  return values.sort((a, b) => compareTexts(a.index, b.index) || compareTexts(a.hash, b.hash));
}

/**
 * Returns the values of a stored object in unique indexes except `metadata.name`. If an index cannot index the object,
 * the object has no value in this index.
 */
export function valuesOfFact(indexes: readonly IndexDefinition[], object: ResourceObject): readonly HeldValue[] {
  const { keys } = entryOfFact(indexes, object);
  return indexes.flatMap((index, place) =>
    index.unique && index.name !== nameIndex ? (keys[place] ?? []).map((key) => heldValue(index, key)) : [],
  );
}

/** Returns the unique values in the entry `before` that are not in the entry `after`. Runs no code of a plugin. */
export function releasedValues(
  indexes: readonly IndexDefinition[],
  before: IndexEntry,
  after: IndexEntry | undefined,
): readonly HeldValue[] {
  return indexes.flatMap((index, place) => {
    const held = before.keys[place];
    if (!index.unique || index.name === nameIndex || held === undefined || held.length === 0) return [];
    const kept = after?.keys[place] ?? [];
    return held.filter((key) => !kept.includes(key)).map((key) => heldValue(index, key));
  });
}

/**
 * Returns the value of `key` in the form that identifies its claim. The hash is computed from the readable form, so
 * that an operator can compute the hash and find the claim.
 */
export function heldValue(index: IndexDefinition, key: IndexKey): HeldValue {
  return { index: index.name, hash: createHash('sha256').update(textOfKey(index.type, key)).digest('hex') };
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
