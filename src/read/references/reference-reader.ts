import type { LogPosition } from '../../log/log.ts';
import type { HeldReference } from '../../resource/references/named-targets.ts';
import type { ReferenceDeclaration } from '../../resource/references/reference-declaration.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';

/** A declared reference of the type `from`. */
export type ReferenceFrom = ReferenceDeclaration & { readonly from: TypeKey };

/**
 * An object that names another object. `uid` is the uid of the named object at the decision; undefined if the object
 * did not exist.
 */
export type Referrer = {
  readonly type: TypeKey;
  readonly name: string;
  readonly uid: string | undefined;
};

/** Selects up to `limit` objects of one type, by name, beginning after the name `after`. */
export type ReferrerPage = {
  readonly after?: string | undefined;
  readonly limit: number;
};

/** The state of a possible target of references. */
export type TargetState = {
  readonly uid: string;
  readonly isMarked: boolean;
};

/**
 * An intent with a possibly pending append. `object` is the target of the append, as `<type>/<name>`. `through` is the
 * greatest revision that the append may expect; -1 for an absent object. `position` is the position of the intent.
 */
export type PendingIntent = { readonly object: string; readonly through: number; readonly position: LogPosition };

/** The references of objects, and the objects that name an object, in the folded state. */
export type ReferenceReader = {
  /** Returns the declared references to objects of a type, in the latest declarations in the log. */
  declaredTo(type: TypeKey): readonly ReferenceFrom[];
  /** Returns the references that a type declares, in its latest declaration in the log. */
  declaredBy(type: TypeKey): readonly ReferenceDeclaration[];
  /** Returns the references of an object in its last event. */
  of(type: TypeKey, name: string): readonly HeldReference[];
  /** Returns the objects that name `target` (`<type>/<name>`) in the field of this reference. */
  referrers(target: string, reference: Pick<ReferenceFrom, 'from' | 'field'>, page: ReferrerPage): readonly Referrer[];
  /** Returns the names of the type's objects that have references. */
  referring(type: TypeKey, page: ReferrerPage): readonly string[];
  /** Returns the state of the object with the key `<type>/<name>`; undefined for a missing object. */
  target(key: string): TargetState | undefined;
  /** Returns the pending deletions of the object `<type>/<name>` with an intent before the position `before`. */
  closings(object: string, before: LogPosition): readonly PendingIntent[];
  /**
   * Returns the pending writes that will name `target` (`<type>/<name>`), with an intent before the position `before`.
   */
  naming(target: string, before: LogPosition): readonly PendingIntent[];
  /** Returns whether an object is marked for deletion; undefined for a missing object. */
  isMarked(type: TypeKey, name: string): boolean | undefined;
};
