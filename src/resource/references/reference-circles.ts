import type { TypeKey } from '../type/index-entry.ts';
import type { ResourceType } from '../type/resource-type.ts';
import type { ReferenceDeclaration } from './reference-declaration.ts';

type Referring = Pick<ResourceType, 'key' | 'references'>;

/**
 * Returns the problems of references in a circle that could never be completed. The deletion of an object deletes the
 * objects that name it with `cascade`. If the deleted object itself names one of these with `refuse`, this deletion is
 * refused while the object exists, and the object waits for it. Circles of only `cascade`, or of only `refuse`, have no
 * such problem.
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

/** The references with `cascade` that lead from one type to another; undefined if there are none. */
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
    `delete objects of ${to} that it prevents from being deleted. Declare another onDelete for one of them`
  );
}
