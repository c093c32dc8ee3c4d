import type { IndexDefinition } from '../type/resource-type.ts';

/** One condition of a labelSelector (decision 4.2). `notIn` also holds for objects without the key. */
export type LabelRequirement =
  | { readonly key: string; readonly operator: 'in' | 'notIn'; readonly values: readonly string[] }
  | { readonly key: string; readonly operator: 'exists' | 'absent' };

/** One condition of a fieldSelector as written. `notIn` also holds for objects without a value. */
export type FieldRequirement =
  | { readonly field: string; readonly operator: 'in' | 'notIn'; readonly values: readonly string[] }
  | { readonly field: string; readonly operator: 'exists' | 'absent' }
  | { readonly field: string; readonly operator: '<' | '<=' | '>' | '>=' | '^='; readonly value: string };

/** A fieldSelector's condition bound to a type's index, operands as keys. An operand that is no key of the index matches nothing. */
export type IndexRequirement =
  /** `index` is the place in the type's `indexes`. */
  | { readonly index: number; readonly operator: 'in' | 'notIn'; readonly keys: readonly (string | number)[] }
  | { readonly index: number; readonly operator: 'exists' | 'absent' }
  | { readonly index: number; readonly operator: '<' | '<=' | '>' | '>='; readonly key: string | number }
  | { readonly index: number; readonly operator: '^='; readonly prefix: string };

/** What a list or a watch selects: all conditions must hold. */
export type Selection = {
  readonly labels: readonly LabelRequirement[];
  readonly fields: readonly IndexRequirement[];
};

export type SortKey = {
  readonly index: number;
  readonly direction: 'asc' | 'desc';
  /** Where objects without a value stand, when that is not as usual: last ascending, first descending. */
  readonly nulls?: 'first' | 'last';
};

/** The place of one object in an order: the first key by each sort (undefined: no value), then the tie-breaks. */
export type OrderPlace = {
  readonly keys: readonly (string | number | undefined)[];
  readonly created: number;
  readonly name: string;
};

export type Window =
  | { readonly kind: 'all' }
  /** `page` starts at 1. */
  | { readonly kind: 'page'; readonly page: number; readonly size: number }
  /** The `limit` objects after `after` in the order. */
  | { readonly kind: 'after'; readonly limit: number; readonly after: OrderPlace | undefined };

export type ListQuery = {
  readonly selection: Selection;
  /** Empty: creationTimestamp descending, then name ascending, which also breaks every tie (decision 4.3). */
  readonly sort: readonly SortKey[];
  readonly window: Window;
};

/** The index a field names, with its place; undefined when the field has no index. */
export function indexOf(indexes: readonly IndexDefinition[], field: string): number | undefined {
  const place = indexes.findIndex((index) => index.name === field);
  return place === -1 ? undefined : place;
}
