import type { IndexEntry, IndexKey } from '../type/index-entry.ts';
import type { IndexRequirement, LabelRequirement, Selection } from './list-query.ts';

/** Whether the selection matches an object. Lists evaluate the selection by indexes, with the same result. */
export function matches(selection: Selection, entry: IndexEntry): boolean {
  return (
    selection.labels.every((requirement) => matchesLabels(requirement, entry.labels)) &&
    selection.fields.every((requirement) => matchesKeys(requirement, entry.keys[requirement.index] ?? []))
  );
}

export function matchesLabels(requirement: LabelRequirement, labels: Readonly<Record<string, string>>): boolean {
  // A label key may be `constructor`, which is also an inherited member of the object `labels`.
  const value = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined;
  switch (requirement.operator) {
    case 'in':
      return value !== undefined && requirement.values.includes(value);
    case 'notIn':
      return value === undefined || !requirement.values.includes(value);
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
  }
}

/**
 * Whether the keys of an object satisfy the requirement. With several keys, `notIn` requires that no key is in the set,
 * and `absent` that there is no key. Every other operator requires one matching key.
 */
export function matchesKeys(requirement: IndexRequirement, keys: readonly IndexKey[]): boolean {
  switch (requirement.operator) {
    case 'in':
      return keys.some((key) => requirement.keys.includes(key));
    case 'notIn':
      return !keys.some((key) => requirement.keys.includes(key));
    case 'exists':
      return keys.length > 0;
    case 'absent':
      return keys.length === 0;
    case '<':
      return keys.some((key) => key < requirement.key);
    case '<=':
      return keys.some((key) => key <= requirement.key);
    case '>':
      return keys.some((key) => key > requirement.key);
    case '>=':
      return keys.some((key) => key >= requirement.key);
    case '^=':
      return keys.some((key) => typeof key === 'string' && key.startsWith(requirement.prefix));
  }
}
