/**
 * Functions on lists of finalizers, and the patches that remove finalizers. Finalizers are an ordered set; if the set
 * is empty, the member is absent. The finalizers of a marked object are decided in `command/decide.ts`;
 * `command/emit.ts` removes a marked object without finalizers.
 */
import { isList, isObject } from '../../base/guards.ts';
import type { JsonObject, JsonValue } from './object.ts';

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

/** Returns the merge patch of the metadata that removes one of these finalizers. */
export function finalizerRemoval(
  finalizers: readonly JsonValue[] | undefined,
  removed: string,
): { readonly finalizers: readonly JsonValue[] } {
  return { finalizers: (finalizers ?? []).filter((finalizer) => finalizer !== removed) };
}

/** The merge patch that removes all finalizers. */
export const allFinalizersRemoval: JsonObject = { metadata: { finalizers: null } };

/** Returns the parsed object with the finalizer added. */
export function withFinalizer(object: JsonObject, finalizer: string): JsonObject {
  const metadata = isObject(object['metadata']) ? object['metadata'] : {};
  const declared = metadata['finalizers'];
  const finalizers = isList(declared) ? declared : [];
  return finalizers.includes(finalizer)
    ? object
    : { ...object, metadata: { ...metadata, finalizers: [...finalizers, finalizer] } };
}

/** Returns the parsed object without finalizers. */
export function withoutFinalizers(value: JsonValue): JsonValue {
  if (!isObject(value) || !isObject(value['metadata'])) return value;
  const { finalizers: _finalizers, ...metadata } = value['metadata'];
  return { ...value, metadata };
}
