import type { OwnerReference, ResourceObject } from './object.ts';

/** The group of an `apiVersion`; empty for the core group, which has only a version. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash === -1 ? '' : apiVersion.slice(0, slash);
}

/**
 * Whether the reference names exactly this object: by group, kind, name and uid. The uid alone is not enough, since
 * anybody can write one.
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
