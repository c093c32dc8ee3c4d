import type { ResourceType } from '../resource/type/resource-type.ts';

export type GroupVersionKind = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
};

/** The prefix of references to named schemas in documents of OpenAPI 3. */
export const schemasPrefix = '#/components/schemas/';

export function referenceTo(name: string): { readonly $ref: string } {
  return { $ref: `${schemasPrefix}${name}` };
}

/**
 * Returns the name of a type's schema. As in Kubernetes, the labels of the group are in reverse order, before the
 * version and the kind.
 */
export function schemaNameOf({ group, version, kind }: GroupVersionKind, domain: string): string {
  const labels = (group === '' ? `core.${domain}` : group).split('.').reverse();
  return [...labels, version, kind].join('.');
}

/** Returns the tag of a type, such as `WidgetV1alpha1` for the kind `Widget` and the version `v1alpha1`. */
export function tagOf({ kind, version }: Pick<ResourceType, 'kind' | 'version'>): string {
  return `${kind}${capitalized(version)}`;
}

/** Returns a text in camel case, with letters and digits only: `FooExampleAComV1` for `foo.example-a.com/v1`. */
export function camelCase(text: string): string {
  return text
    .split(/[^A-Za-z0-9]+/u)
    .map(capitalized)
    .join('');
}

/** Returns the suffix for an operation id that another type of the document already uses. */
export function qualifierOf({ group, version }: Pick<GroupVersionKind, 'group' | 'version'>): string {
  return `${camelCase(group)}${camelCase(version)}`;
}

/**
 * Returns names that are unique in one document. A name that is in use gets a qualifier and, if necessary, a number.
 */
export class UniqueNames {
  readonly #taken = new Set<string>();

  take(wanted: string, qualifier: string): string {
    let free = wanted;
    for (let count = 1; this.#taken.has(free); count += 1)
      free = `${wanted}${qualifier}${count === 1 ? '' : String(count)}`;
    this.#taken.add(free);
    return free;
  }
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
