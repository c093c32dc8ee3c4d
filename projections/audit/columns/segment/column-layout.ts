import { creationIndex, nameIndex } from '../../../../src/resource/type/index-definition.ts';
import type { IndexEntry, IndexKey } from '../../../../src/resource/type/index-entry.ts';
import type { IndexDefinition } from '../../../../src/resource/type/resource-type.ts';
import { labelTerm } from '../../../index/index-orders.ts';

/** The values of one column of an object: ascending, without duplicates. */
export type ColumnLayout = {
  readonly isText: boolean;
  /** Whether an object may have several values. */
  readonly multi: boolean;
  readonly valuesOf: (entry: IndexEntry) => readonly IndexKey[];
};

/** A column for each index of a type, at its place, then one of labels, as terms. */
export function layoutOf(definitions: readonly IndexDefinition[]): readonly ColumnLayout[] {
  const columns = definitions.map(({ name, type, multi }, place): ColumnLayout => {
    // The live indexes have the object's own name and creation time in these two, and so does the default order.
    if (name === nameIndex) return { isText: true, multi: false, valuesOf: (entry) => [entry.name] };
    if (name === creationIndex) return { isText: false, multi: false, valuesOf: (entry) => [entry.created] };
    return { isText: type === 'string', multi, valuesOf: (entry) => entry.keys[place] ?? noKeys };
  });
  return [...columns, { isText: true, multi: true, valuesOf: termsOf }];
}

const noKeys: readonly IndexKey[] = Object.freeze([]);

function termsOf({ labels }: IndexEntry): readonly string[] {
  return Object.keys(labels).map((key) => labelTerm(key, labels[key] ?? ''));
}
