import type { TypeKey } from '../type/index-entry.ts';

/** The treatment of a write that names an object which does not exist or is being deleted. */
export type OnMissing = 'refuse' | 'allow';

/** The treatment of referring objects when the object that they name is deleted. */
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
 * Whether a reference is kept intact on all nodes and in all races: a write is never accepted that names a deleted
 * object, and no object is deleted that another object names. Other references are checked against the read models.
 */
export function isStrict({ onMissing, onDelete }: ReferenceDeclaration): boolean {
  return onMissing === 'refuse' && onDelete === 'refuse';
}

/** Whether a reconciler changes or deletes the referring objects after a deletion. */
export function isReconciled({ onDelete }: ReferenceDeclaration): boolean {
  return onDelete === 'cascade' || onDelete === 'clear';
}

/**
 * The finalizer of a marked object with referring objects that are deleted, or whose references are removed, before
 * the object is removed.
 */
export function referencesFinalizer(domain: string): string {
  return `${domain}/references`;
}
