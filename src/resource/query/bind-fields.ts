import { stringKey } from '../type/index-key.ts';
import type { IndexDefinition } from '../type/resource-type.ts';
import { indexOf, type FieldRequirement, type IndexRequirement } from './list-query.ts';

export type BoundFields =
  | { readonly ok: true; readonly requirements: readonly IndexRequirement[] }
  | { readonly ok: false; readonly problem: string };

/**
 * Binds the requirements of a field selector to the indexes of a type. Only indexed values can be used (seed 2.6).
 * `noun` names the indexes in messages.
 */
export function bindFields(
  requirements: readonly FieldRequirement[],
  indexes: readonly IndexDefinition[],
  noun = 'indexed fields',
): BoundFields {
  const bound: IndexRequirement[] = [];
  for (const requirement of requirements) {
    const place = indexOf(indexes, requirement.field);
    const index = place === undefined ? undefined : indexes[place];
    if (place === undefined || index === undefined)
      return { ok: false, problem: `fieldSelector: ${notSupported(requirement.field, indexes, noun)}` };
    if (requirement.operator === '^=' && index.type !== 'string') {
      return {
        ok: false,
        problem:
          'fieldSelector: "^=" compares strings, but the values of ' +
          `${JSON.stringify(index.name)} are ${index.type}s`,
      };
    }
    bound.push(bind(requirement, place, index));
  }
  return { ok: true, requirements: bound };
}

function bind(requirement: FieldRequirement, place: number, index: IndexDefinition): IndexRequirement {
  switch (requirement.operator) {
    case 'exists':
    case 'absent':
      return { index: place, operator: requirement.operator };
    case 'in':
    case 'notIn':
      return {
        index: place,
        operator: requirement.operator,
        keys: requirement.values.map(index.keyOf).filter((key) => key !== undefined),
      };
    case '^=':
      return { index: place, operator: '^=', prefix: stringKey(requirement.value) };
    case '<':
    case '<=':
    case '>':
    case '>=': {
      const key = index.keyOf(requirement.value);
      // No value is less or greater than an invalid operand, so the condition matches no object.
      return key === undefined
        ? { index: place, operator: 'in', keys: [] }
        : { index: place, operator: requirement.operator, key };
    }
  }
}

/** Returns the refusal in Kubernetes' words, because clients of Kubernetes search error messages for these words. */
function notSupported(field: string, indexes: readonly IndexDefinition[], noun: string): string {
  const label = JSON.stringify(truncatedField(field)).slice(1, -1);
  return `field label not supported: ${label}; ${indexedFields(indexes, noun)}`;
}

export function indexedFields(indexes: readonly IndexDefinition[], noun = 'indexed fields'): string {
  return `the ${noun} are ${indexes.map(({ name }) => name).join(', ')}`;
}

export function truncatedField(field: string): string {
  return field.length > 128 ? `${field.slice(0, 128)}…` : field;
}
