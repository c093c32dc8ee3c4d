import { isList, isObject } from '../../src/base/guards.ts';
import type { JsonObject, JsonValue, ResourceObject } from '../../src/resource/object/object.ts';
import type { ReferenceReader } from '../../src/read/references/reference-reader.ts';
import { isReconciled, type OnDelete } from '../../src/resource/references/reference-declaration.ts';
import { targetKey, type HeldReference } from '../../src/resource/references/named-targets.ts';
import { valueAt } from '../../src/resource/type/index-values.ts';
import type { TypeKey } from '../../src/resource/type/index-entry.ts';

/** A reference to an object that is deleted or marked for deletion. */
export type EndedReference = HeldReference & { readonly onDelete: OnDelete };

/**
 * Returns the references of an object that a reconciler must process, because their targets are deleted or marked for
 * deletion. The uid decides whether a target is deleted, because a new object may have the target's name. References of
 * the object to itself are ignored.
 */
export function endedReferences(references: ReferenceReader, type: TypeKey, name: string): readonly EndedReference[] {
  const declared = references.declaredBy(type).filter(isReconciled);
  if (declared.length === 0) return [];
  const own = targetKey(type, name);
  return references.of(type, name).flatMap((ref) => {
    const onDelete = declared.find(({ field }) => field === ref.field)?.onDelete;
    return onDelete === undefined || ref.target === own || !isEnded(references, ref) ? [] : [{ ...ref, onDelete }];
  });
}

function isEnded(references: ReferenceReader, { target, uid }: HeldReference): boolean {
  const state = references.target(target);
  return state?.isMarked === true || (uid !== undefined && state?.uid !== uid);
}

/** Returns the merge patch that removes the names of these references from an object. */
export function clearingPatch(object: ResourceObject, ended: readonly EndedReference[]): JsonObject {
  let patch: JsonObject = {};
  for (const field of new Set(ended.map((ref) => ref.field))) {
    const path = field.split('.');
    const names = new Set(ended.flatMap((ref) => (ref.field === field ? [nameIn(ref)] : [])));
    const value = valueAt(object, path);
    const rest = isList(value)
      ? value.filter((name): name is string => typeof name === 'string' && !names.has(name))
      : null;
    patch = withValue(patch, path, rest);
  }
  return patch;
}

function nameIn({ target }: HeldReference): string {
  return target.slice(target.indexOf('/') + 1);
}

function withValue(patch: JsonObject, [member = '', ...rest]: readonly string[], value: JsonValue): JsonObject {
  if (rest.length === 0) return { ...patch, [member]: value };
  const below = patch[member];
  return { ...patch, [member]: withValue(isObject(below) ? below : {}, rest, value) };
}
