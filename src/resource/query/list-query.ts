import type { IndexDefinition } from '../type/resource-type.ts';

/** One condition of a labelSelector (decision 4.2). `notIn` also matches objects without the key. */
export type LabelRequirement =
  | { readonly key: string; readonly operator: 'in' | 'notIn'; readonly values: readonly string[] }
  | { readonly key: string; readonly operator: 'exists' | 'absent' };

/**
 * One condition of a fieldSelector, before its field is bound to an index. `notIn` also matches objects without a
 * value.
 */
export type FieldRequirement =
  | { readonly field: string; readonly operator: 'in' | 'notIn'; readonly values: readonly string[] }
  | { readonly field: string; readonly operator: 'exists' | 'absent' }
  | { readonly field: string; readonly operator: '<' | '<=' | '>' | '>=' | '^='; readonly value: string };

/**
 * A condition of a fieldSelector that is bound to an index of a type. The operands are index keys. An operand that
 * cannot be converted to a key is not equal to, less than or greater than any value.
 */
export type IndexRequirement =
  /** `index`: the position in the type's `indexes`. */
  | { readonly index: number; readonly operator: 'in' | 'notIn'; readonly keys: readonly (string | number)[] }
  | { readonly index: number; readonly operator: 'exists' | 'absent' }
  | { readonly index: number; readonly operator: '<' | '<=' | '>' | '>='; readonly key: string | number }
  | { readonly index: number; readonly operator: '^='; readonly prefix: string };

/** The selection of a list or a watch: an object must match all conditions. */
export type Selection = {
  readonly labels: readonly LabelRequirement[];
  readonly fields: readonly IndexRequirement[];
};

export type SortKey = {
  readonly index: number;
  readonly direction: 'asc' | 'desc';
  /**
   * The place of objects without a value. By default, these objects are last in ascending and first in descending
   * order.
   */
  readonly nulls?: 'first' | 'last';
};

/** The place of an object in an order: the object's index key for each sort key, then the members that break ties. */
export type OrderPlace = {
  /** For each sort key: the object's index key; undefined if the object has no value. */
  readonly keys: readonly (string | number | undefined)[];
  /** The creationTimestamp in epoch milliseconds. */
  readonly created: number;
  readonly name: string;
};

export type Window =
  | { readonly kind: 'all' }
  /** `page` starts at 1. */
  | { readonly kind: 'page'; readonly page: number; readonly size: number }
  /** The first `limit` objects after the place `after`, or from the beginning. */
  | { readonly kind: 'after'; readonly limit: number; readonly after: OrderPlace | undefined };

export type ListQuery = {
  readonly selection: Selection;
  /**
   * Without sort keys, objects are ordered by descending creationTimestamp, then by ascending name. This order also
   * breaks every tie (decision 4.3).
   */
  readonly sort: readonly SortKey[];
  readonly window: Window;
};

/** Returns the position of a field's index in `indexes`; undefined if the field has no index. */
export function indexOf(indexes: readonly IndexDefinition[], field: string): number | undefined {
  const place = indexes.findIndex((index) => index.name === field);
  return place === -1 ? undefined : place;
}
