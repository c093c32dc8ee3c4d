import type { OwnerReference, ResourceObject } from './object.ts';

/** The group of an `apiVersion`; the core group's is a version alone. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash === -1 ? '' : apiVersion.slice(0, slash);
}

/** Whether the reference names this very object: by group, kind, name and uid. A uid alone names nobody, as anybody can write it. */
export function isReferenceTo({ apiVersion, kind, name, uid }: OwnerReference, owner: ResourceObject): boolean {
  const { metadata } = owner;
  return uid === metadata.uid && name === metadata.name && kind === owner.kind && groupOf(apiVersion) === groupOf(owner.apiVersion);
}
