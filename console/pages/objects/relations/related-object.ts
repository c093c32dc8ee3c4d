import type { ServedType } from '../../../server/served-types.ts';

/** An object in a tree of relations. */
export type RelatedObject = {
  /** Unique among the objects at its place in the tree. */
  readonly key: string;
  /** The kind, or the type if it is not served. */
  readonly kind: string;
  readonly name: string;
  /** Undefined if the type is not served, or the user may not list it. */
  readonly type: ServedType | undefined;
  /** The field by which the object names the one above. */
  readonly field?: string | undefined;
};

/** The objects below another one. `hidden` further ones are only counted. */
export type Related = { readonly items: readonly RelatedObject[]; readonly hidden: number; readonly isMore: boolean };

/** Reads the objects below another one. */
export type ReadRelated = (
  object: { readonly type: ServedType; readonly name: string },
  signal: AbortSignal,
) => Promise<Related>;

/** Returns whether two places of trees show the same object. */
export function isSameObject(left: RelatedObject, right: RelatedObject): boolean {
  return left.kind === right.kind && left.name === right.name && left.type?.group === right.type?.group;
}
