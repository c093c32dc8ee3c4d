import { isObject } from '../../../../base/guards.ts';

export type Members = Readonly<Record<string, unknown>>;

/**
 * Returns the metadata to write: the request's metadata without finalizers and owner references, and with the members
 * of `kept`. With finalizers or owner references, a user could block the deletion of objects.
 */
export function ownMetadata({ metadata }: Members, kept: Members): { readonly metadata?: unknown } {
  if (!isObject(metadata)) return metadata === undefined ? {} : { metadata };
  const { finalizers: _finalizers, ownerReferences: _ownerReferences, ...allowed } = metadata;
  return { metadata: { ...allowed, ...kept } };
}

/**
 * Returns the spec to write: the user's spec without the members in `names`, and with the members of `kept`. Returns a
 * value that is not an object unchanged, because the schema refuses the value.
 */
export function ownSpec(spec: unknown, names: readonly string[], kept: Members): unknown {
  return isObject(spec) ? { ...omit(spec, names), ...kept } : spec;
}

/** Returns the expected version in a request's body, as a part of a merge patch. */
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
