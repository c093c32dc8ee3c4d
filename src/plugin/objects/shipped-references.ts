import type { JsonObject } from '../../resource/object/object.ts';
import { namedTargets, targetKey, type NamedTarget } from '../../resource/references/named-targets.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { preferredObject } from './apply-object.ts';

/** An object that a plugin ships, and its type in the version of the object. */
export type TypedObject = {
  readonly type: ResourceType;
  readonly name: string;
  readonly object: JsonObject;
};

/**
 * Returns the objects in an order in which each object follows the objects that it names. In a cycle of references, one
 * object precedes an object that it names.
 */
export function referencedFirst<Each extends TypedObject>(objects: readonly Each[]): readonly Each[] {
  const byKey = new Map(objects.map((each) => [targetKey(each.type.key, each.name), each]));
  const entered = new Set<Each>();
  const ordered: Each[] = [];
  const place = (each: Each): void => {
    if (entered.has(each)) return;
    entered.add(each);
    for (const { target } of namesIn(each)) {
      const named = target === undefined ? undefined : byKey.get(target);
      if (named !== undefined) place(named);
    }
    ordered.push(each);
  };
  for (const each of objects) place(each);
  return ordered;
}

/** Returns the JSON pointers at which an object refers to `objects`. */
export function pointersTo(objects: ReadonlySet<string>, typed: TypedObject): ReadonlySet<string> {
  return new Set(
    namesIn(typed)
      .filter(({ target }) => target !== undefined && objects.has(target))
      .map(({ pointer }) => pointer),
  );
}

/** Returns the names in the references of an object. References are declared for the preferred version. */
export function namesIn({ type, object }: Omit<TypedObject, 'name'>): readonly NamedTarget[] {
  return namedTargets(type.references, preferredObject(object, type));
}
