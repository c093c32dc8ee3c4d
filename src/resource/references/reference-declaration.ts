import type { TypeKey } from '../type/index-entry.ts';

/** The treatment of a write that names a missing object or an object that is being deleted. */
export type OnMissing = 'refuse' | 'allow';

/** The effect of the deletion of a named object. */
export type OnDelete =
  /** The deletion is refused. */
  | 'refuse'
  /** The referring objects keep their references. */
  | 'orphan'
  /** The referring objects are deleted. */
  | 'cascade'
  /** The references are removed from the referring objects. */
  | 'clear';

/** A declared field that contains the name, or the names, of objects of one type. */
export type ReferenceDeclaration = {
  /** The dotted path of the field. */
  readonly field: string;
  /** The type of the named objects: `<plural>.<group>`. */
  readonly to: TypeKey;
  readonly onMissing: OnMissing;
  readonly onDelete: OnDelete;
};

/**
 * Whether the reference is guaranteed on all nodes, even for concurrent writes. Other references are checked only
 * against the read models of one node.
 */
export function isStrict({ onMissing, onDelete }: ReferenceDeclaration): boolean {
  return onMissing === 'refuse' && onDelete === 'refuse';
}

/** Whether a reconciler changes or deletes the referring objects when the object that they name is deleted. */
export function isReconciled({ onDelete }: ReferenceDeclaration): boolean {
  return onDelete === 'cascade' || onDelete === 'clear';
}

/**
 * Returns the finalizer of a marked object that other objects name with `cascade` or `clear`. The finalizer blocks the
 * removal of the object until no unmarked object names it.
 */
export function referencesFinalizer(domain: string): string {
  return `${domain}/references`;
}
