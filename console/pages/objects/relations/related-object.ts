import type { ServedType } from '../../../server/served-types.ts';

/** An object in a tree of relations. */
export type RelatedObject = {
  /** A key that is unique among the objects below the same parent. */
  readonly key: string;
  /** The kind; the name of the type if the type is not served. */
  readonly kind: string;
  readonly name: string;
  /** The type; undefined if the type is not served, or if the user may not list its objects. */
  readonly type: ServedType | undefined;
  /** The field in which the object names its parent in the tree. */
  readonly field?: string | undefined;
};

/** The children of an object in the tree. `hidden`: the number of further children, which are only counted. */
export type Related = { readonly items: readonly RelatedObject[]; readonly hidden: number; readonly isMore: boolean };

/** Reads the children of an object in the tree. */
export type ReadRelated = (
  object: { readonly type: ServedType; readonly name: string },
  signal: AbortSignal,
) => Promise<Related>;

/** Returns whether two nodes of a tree show the same object. */
export function isSameObject(left: RelatedObject, right: RelatedObject): boolean {
  return left.kind === right.kind && left.name === right.name && left.type?.group === right.type?.group;
}
