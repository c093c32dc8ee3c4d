import type { IndexEntry, IndexKey } from '../type/index-entry.ts';
import type { IndexRequirement, LabelRequirement, Selection } from './list-query.ts';

/** Whether an object is selected. Watches use it for every change; the indexes must give the same result. */
export function matches(selection: Selection, entry: IndexEntry): boolean {
  return (
    selection.labels.every((requirement) => matchesLabels(requirement, entry.labels)) &&
    selection.fields.every((requirement) => matchesKeys(requirement, entry.keys[requirement.index] ?? []))
  );
}

export function matchesLabels(requirement: LabelRequirement, labels: Readonly<Record<string, string>>): boolean {
  // `Object.hasOwn`, since the naming rules allow a label key `constructor`.
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

/** A multi-valued index matches a positive condition if any value does, and `notIn` if none does. */
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
