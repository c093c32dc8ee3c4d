import type { OwnerReference, ResourceObject } from './object.ts';

/** Returns the group of an `apiVersion`; empty for the core group, in which an `apiVersion` is only a version. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash === -1 ? '' : apiVersion.slice(0, slash);
}

/**
 * Whether the reference names exactly this object. The uid alone is not enough, because any writer can set any uid in a
 * reference.
 */
export function isReferenceTo({ apiVersion, kind, name, uid }: OwnerReference, owner: ResourceObject): boolean {
  const { metadata } = owner;
  return (
    uid === metadata.uid &&
    name === metadata.name &&
    kind === owner.kind &&
    groupOf(apiVersion) === groupOf(owner.apiVersion)
  );
}
