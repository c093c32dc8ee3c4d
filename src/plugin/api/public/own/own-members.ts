import { isObject } from '../../../../base/guards.ts';

export type Members = Readonly<Record<string, unknown>>;

/**
 * Returns the metadata to write: the metadata of the request, without its finalizers and owner references, and with the
 * members of `kept`. A user's object is written with the plugin's rights, but the user must not be able to block the
 * deletion of the object (finalizers) or of other objects (owner references).
 */
export function ownMetadata({ metadata }: Members, kept: Members): { readonly metadata?: unknown } {
  if (!isObject(metadata)) return metadata === undefined ? {} : { metadata };
  const { finalizers: _finalizers, ownerReferences: _ownerReferences, ...allowed } = metadata;
  return { metadata: { ...allowed, ...kept } };
}

/**
 * Returns the spec to write: the user's spec, without the members in `names`, and with the members of `kept`. A value
 * that is not an object is returned unchanged, because the schema refuses it.
 */
export function ownSpec(spec: unknown, names: readonly string[], kept: Members): unknown {
  return isObject(spec) ? { ...omit(spec, names), ...kept } : spec;
}

/** Returns the expected version in the body of a request, as a part of a merge patch. */
export function expectedVersion(body: unknown): Members {
  if (!isObject(body) || !isObject(body['metadata'])) return {};
  const { version, resourceVersion } = body['metadata'];
  return { metadata: { version, resourceVersion } };
}

export function pick(members: object, names: readonly string[]): Members {
  return Object.fromEntries(Object.entries(members).filter(([name]) => names.includes(name)));
}

function omit(members: object, names: readonly string[]): Members {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
}
