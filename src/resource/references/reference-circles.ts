import type { TypeKey } from '../type/index-entry.ts';
import type { ResourceType } from '../type/resource-type.ts';
import type { ReferenceDeclaration } from './reference-declaration.ts';

type Referring = Pick<ResourceType, 'key' | 'references'>;

/**
 * Returns a problem for each circle of references with a type of `types` in which a deletion could never complete.
 *
 * With `cascade`, the deletion of an object A also deletes each object B that names A, and A is removed after B. If A
 * itself names B with `refuse`, the deletion of B is refused while A exists, so neither object can be removed.
 */
export function circleProblems(types: readonly Referring[], others: readonly Referring[]): readonly string[] {
  const all = [...types, ...others];
  const own = new Set(types.map(({ key }) => key));
  return all.flatMap(({ key, references }) =>
    references
      .filter(({ onDelete }) => onDelete === 'refuse')
      .flatMap((refusing) => {
        const path = cascadePath(refusing.to, key, all);
        return path === undefined || !(own.has(key) || path.some((step) => own.has(step.from)))
          ? []
          : [problemOf(key, refusing, path)];
      }),
  );
}

type Step = { readonly from: TypeKey; readonly reference: ReferenceDeclaration };

/** Returns a path of references with `cascade` from one type to another; undefined if there is no path. */
function cascadePath(start: TypeKey, end: TypeKey, types: readonly Referring[]): readonly Step[] | undefined {
  const paths: (readonly Step[])[] = [[]];
  const seen = new Set<TypeKey>();
  for (const path of paths) {
    const from = path.at(-1)?.reference.to ?? start;
    for (const reference of types.find(({ key }) => key === from)?.references ?? []) {
      if (reference.onDelete !== 'cascade') continue;
      const longer = [...path, { from, reference }];
      if (reference.to === end) return longer;
      if (seen.has(reference.to)) continue;
      seen.add(reference.to);
      paths.push(longer);
    }
  }
  return undefined;
}

function problemOf(key: TypeKey, { field, to }: ReferenceDeclaration, path: readonly Step[]): string {
  const cascading = path.map(({ from, reference }) => `${from} ${reference.field} (cascade)`).join(', ');
  return (
    `references: ${key} ${field} (refuse) and ${cascading} form a circle: the deletion of an object of ${key} would ` +
    `delete objects of ${to}, but its own reference refuses their deletion. Declare another onDelete for one reference`
  );
}
