import { creationIndex, nameIndex } from '../../../../src/resource/type/index-definition.ts';
import type { IndexEntry, IndexKey } from '../../../../src/resource/type/index-entry.ts';
import type { IndexDefinition } from '../../../../src/resource/type/resource-type.ts';
import { labelTerm } from '../../../index/index-orders.ts';

/**
 * The layout of a column. `valuesOf` returns the values of an object without duplicates. The values of an index are
 * ascending; labels have no order.
 */
export type ColumnLayout = {
  readonly isText: boolean;
  /** Whether an object may have several values. */
  readonly multi: boolean;
  readonly valuesOf: (entry: IndexEntry) => readonly IndexKey[];
};

/** The layouts of a type's columns: one column for each index, then a column of the labels (`labelTerm`). */
export function layoutOf(definitions: readonly IndexDefinition[]): readonly ColumnLayout[] {
  const columns = definitions.map(({ name, type, multi }, index): ColumnLayout => {
    // The live indexes also take the name and the creation time from the object itself.
    if (name === nameIndex) return { isText: true, multi: false, valuesOf: (entry) => [entry.name] };
    if (name === creationIndex) return { isText: false, multi: false, valuesOf: (entry) => [entry.created] };
    return {
      isText: type === 'string',
      multi,
      valuesOf: (entry) => entry.keys[index] ?? noKeys,
    };
  });
  return [...columns, { isText: true, multi: true, valuesOf: termsOf }];
}

const noKeys: readonly IndexKey[] = Object.freeze([]);

function termsOf({ labels }: IndexEntry): readonly string[] {
  return Object.keys(labels).map((key) => labelTerm(key, labels[key] ?? ''));
}
