/** Finalizers are an ordered set. If the set is empty, the member `finalizers` is absent. */
import { isList, isObject } from '../../base/guards.ts';
import type { Violation } from '../type/resource-type.ts';
import type { JsonObject, JsonValue, ResourceObject } from './object.ts';

type Finalizers = readonly string[] | undefined;

export function addFinalizers(finalizers: Finalizers, added: readonly string[]): readonly string[] {
  return [...new Set([...(finalizers ?? []), ...added])];
}

export function removeFinalizers(finalizers: Finalizers, removed: readonly string[]): readonly string[] {
  return (finalizers ?? []).filter((finalizer) => !removed.includes(finalizer));
}

/** Returns the entries of `next` that are not in `finalizers`. */
export function addedFinalizers(finalizers: Finalizers, next: Finalizers): readonly string[] {
  return (next ?? []).filter((finalizer) => finalizers?.includes(finalizer) !== true);
}

/**
 * Returns a violation if a marked object gets new finalizers. As in Kubernetes, the finalizers of a marked object can
 * be removed, but not added (decision 3.2).
 */
export function finalizerViolations(current: ResourceObject, next: Finalizers): readonly Violation[] {
  if (current.metadata.deletionTimestamp === undefined) return [];
  const added = addedFinalizers(current.metadata.finalizers, next);
  if (added.length === 0) return [];
  const found = `found new finalizers ${JSON.stringify(added)}`;
  const detail = `no new finalizers can be added if the object is being deleted, ${found}`;
  return [{ pointer: '/metadata/finalizers', detail }];
}

/**
 * Returns a merge patch for the metadata of an object with these finalizers. The patch removes the finalizer `removed`.
 */
export function finalizerRemoval(
  finalizers: readonly JsonValue[] | undefined,
  removed: string,
): { readonly finalizers: readonly JsonValue[] } {
  return { finalizers: (finalizers ?? []).filter((finalizer) => finalizer !== removed) };
}

export const allFinalizersRemoval: JsonObject = { metadata: { finalizers: null } };

export function withFinalizer(object: JsonObject, finalizer: string): JsonObject {
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  const declared = metadata['finalizers'];
  const finalizers = isList(declared) ? declared : [];
  return finalizers.includes(finalizer)
    ? object
    : { ...object, metadata: { ...metadata, finalizers: [...finalizers, finalizer] } };
}

export function withoutFinalizers(value: JsonValue): JsonValue {
  if (!isObject(value) || !isObject(value['metadata'])) return value;
  const { finalizers: _finalizers, ...metadata } = value['metadata'];
  return { ...value, metadata };
}
