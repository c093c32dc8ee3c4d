import type { Brand } from '../../base/brand.ts';

/**
 * An object's contribution to its type's indexes. Computed once when its event is folded and stored beside its row.
 * Selectors, sorts and transitions of watches use only this, so no reader parses an object to match it.
 */

/**
 * One index value, comparable with `<` within one index: numbers for `number`, `boolean` (0, 1) and `timestamp` (epoch
 * milliseconds); for `string` a text with UTF-16 order equal to the value's code point order (`stringKey`), so that
 * sorting and searching use the engine's comparison.
 */
export type IndexKey = string | number;

export type IndexEntry = {
  readonly name: string;
  /** metadata.creationTimestamp in epoch milliseconds: the first tie-break of every order, descending. */
  readonly created: number;
  readonly labels: Readonly<Record<string, string>>;
  /**
   * The keys of each index, by its position in the type's `indexes` (defaults first): ascending, without duplicates,
   * empty for an object without a value.
   */
  readonly keys: readonly (readonly IndexKey[])[];
};

/** The identity of a type in streams, rows and indexes: `<plural>.<group>`, independent of its version. */
export type TypeKey = Brand<string, 'TypeKey'>;

const typeKeyForm = /^[a-z][a-z0-9-]*(?:\.[a-z0-9.-]+)?$/u;

export function isTypeKey(text: string): boolean {
  return typeKeyForm.test(text);
}

export function typeKey(text: string): TypeKey {
  if (!isTypeKey(text)) throw new RangeError(`a type's key must be <plural>.<group>, got ${JSON.stringify(text)}`);
  return text as TypeKey;
}
