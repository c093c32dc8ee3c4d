import type { Brand } from '../../base/brand.ts';

/**
 * What one object contributes to its type's indexes. Computed once when its event is folded, kept beside its row, and all
 * that selectors, sorts and watchers' transitions ever look at: no reader parses an object to match it.
 */

/**
 * One index value, comparable with `<` within one index: numbers for `number`, `boolean` (0, 1) and `timestamp` (epoch
 * milliseconds); for `string` a text whose UTF-16 order is the value's code point order (`stringKey`), so that sorting and
 * searching use the engine's own comparison.
 */
export type IndexKey = string | number;

export type IndexEntry = {
  readonly name: string;
  /** metadata.creationTimestamp in epoch milliseconds: the first tie-break of every order, descending. */
  readonly created: number;
  readonly labels: Readonly<Record<string, string>>;
  /**
   * The keys of each index, by its place in the type's `indexes` (defaults first): ascending, without duplicates, empty for
   * an object without a value.
   */
  readonly keys: readonly (readonly IndexKey[])[];
};

/** The identity of a type in streams, rows and indexes: `<plural>.<group>`, whatever its version. */
export type TypeKey = Brand<string, 'TypeKey'>;

export function typeKey(text: string): TypeKey {
  if (!/^[a-z][a-z0-9-]*(?:\.[a-z0-9.-]+)?$/u.test(text)) throw new RangeError(`a type's key must be <plural>.<group>, got ${JSON.stringify(text)}`);
  return text as TypeKey;
}
