import { typeKey, type TypeKey } from '../type/index-entry.ts';
import { nameProblem } from '../type/names.ts';
import { valueAt } from '../type/index-values.ts';
import type { ReferenceDeclaration } from './reference-declaration.ts';

/**
 * A reference of an object, as events contain it: the declared field, the target as `<type>/<name>`, and the uid of the
 * target when the write was decided. `uid` is absent if the target did not exist at that time.
 */
export type HeldReference = { readonly field: string; readonly target: string; readonly uid?: string };

/** A name in a field that is declared as a reference. */
export type NamedTarget = {
  readonly declared: ReferenceDeclaration;
  readonly name: string;
  /** The JSON pointer of the name in the object. */
  readonly pointer: string;
  /** `<type>/<name>`; undefined if the name is not a valid name of an object. */
  readonly target: string | undefined;
};

/** Returns the names in the declared fields of an object, each name once per field. */
export function namedTargets(declarations: readonly ReferenceDeclaration[], object: object): NamedTarget[] {
  return declarations.flatMap((declared) => {
    const path = declared.field.split('.');
    const value = valueAt(object, path);
    const pointer = `/${path.join('/')}`;
    if (typeof value === 'string') return [namedTarget(declared, value, pointer)];
    if (!Array.isArray(value)) return [];
    const seen = new Set<unknown>();
    return value.flatMap((name: unknown, index) => {
      if (typeof name !== 'string' || seen.has(name)) return [];
      seen.add(name);
      return [namedTarget(declared, name, `${pointer}/${String(index)}`)];
    });
  });
}

function namedTarget(declared: ReferenceDeclaration, name: string, pointer: string): NamedTarget {
  const target = nameProblem(name) === undefined ? targetKey(declared.to, name) : undefined;
  return { declared, name, pointer, target };
}

export function targetKey(type: string, name: string): string {
  return `${type}/${name}`;
}

/** Splits a key that `targetKey` returned into the type and the name of the object. */
export function splitTargetKey(key: string): readonly [type: TypeKey, name: string] {
  const slash = key.indexOf('/');
  return [typeKey(key.slice(0, slash)), key.slice(slash + 1)];
}

/** Returns the key of a reference. References of one field to one target have the same key. */
export function referenceKey({ field, target }: Pick<HeldReference, 'field' | 'target'>): string {
  return `${field} ${target}`;
}
