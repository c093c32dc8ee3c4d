/** All edits of finalizers. They are a set that keeps its order; an empty set is an absent member. */
import { isList, isObject } from '../../base/guards.ts';
import type { JsonObject, JsonValue } from './object.ts';

type Finalizers = readonly string[] | undefined;

export function addFinalizers(finalizers: Finalizers, added: readonly string[]): readonly string[] {
  return [...new Set([...(finalizers ?? []), ...added])];
}

export function removeFinalizers(finalizers: Finalizers, removed: readonly string[]): readonly string[] {
  return (finalizers ?? []).filter((finalizer) => !removed.includes(finalizer));
}

/** The entries of `next` that `finalizers` lacks. */
export function addedFinalizers(finalizers: Finalizers, next: Finalizers): readonly string[] {
  return (next ?? []).filter((finalizer) => finalizers?.includes(finalizer) !== true);
}

/** The merge patch that removes one of these finalizers; other members of the metadata stay. */
export function finalizerRemoval(
  finalizers: readonly JsonValue[] | undefined,
  removed: string,
): { readonly finalizers: readonly JsonValue[] } {
  return { finalizers: (finalizers ?? []).filter((finalizer) => finalizer !== removed) };
}

/** The merge patch that removes all finalizers. */
export const allFinalizersRemoval: JsonObject = { metadata: { finalizers: null } };

/** A parsed object with the finalizer added. */
export function withFinalizer(object: JsonObject, finalizer: string): JsonObject {
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  const declared = metadata['finalizers'];
  const finalizers = isList(declared) ? declared : [];
  return finalizers.includes(finalizer)
    ? object
    : { ...object, metadata: { ...metadata, finalizers: [...finalizers, finalizer] } };
}

/** A parsed object without its finalizers. */
export function withoutFinalizers(value: JsonValue): JsonValue {
  if (!isObject(value) || !isObject(value['metadata'])) return value;
  const { finalizers: _finalizers, ...metadata } = value['metadata'];
  return { ...value, metadata };
}
