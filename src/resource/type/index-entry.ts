import type { Brand } from '../../base/brand.ts';

/**
 * An index entry contains the values of an object in the indexes of its type. Selectors, sorts and watches use only the
 * entry, so they need not parse the object.
 */

/**
 * One index value, comparable with `<` within one index. The key is a text in code point order (`stringKey`) for the
 * type `string`, 0 or 1 for `boolean`, epoch milliseconds for `timestamp`, and the number itself for `number`.
 */
export type IndexKey = string | number;

export type IndexEntry = {
  readonly name: string;
  /**
   * metadata.creationTimestamp in epoch milliseconds. In every order, objects with equal sort keys are ordered by this
   * time, newest first.
   */
  readonly created: number;
  readonly labels: Readonly<Record<string, string>>;
  /**
   * The keys of each index, by the position of the index in the type's `indexes`. The keys are ascending and without
   * duplicates. The list is empty if the object has no value in the index.
   */
  readonly keys: readonly (readonly IndexKey[])[];
};

/** The identity of a type in streams, rows and indexes: `<plural>.<group>`, independent of the type's version. */
export type TypeKey = Brand<string, 'TypeKey'>;

const typeKeyForm = /^[a-z][a-z0-9-]*(?:\.[a-z0-9.-]+)?$/u;

export function isTypeKey(text: string): boolean {
  return typeKeyForm.test(text);
}

export function typeKey(text: string): TypeKey {
  if (!isTypeKey(text)) throw new RangeError(`a type's key must be <plural>.<group>, got ${JSON.stringify(text)}`);
  return text as TypeKey;
}

/** Returns the group of a type's key; empty for the core group. */
export function groupOfKey(key: string): string {
  const dot = key.indexOf('.');
  return dot === -1 ? '' : key.slice(dot + 1);
}
