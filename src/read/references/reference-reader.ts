import type { LogPosition } from '../../log/log.ts';
import type { HeldReference } from '../../resource/references/named-targets.ts';
import type { ReferenceDeclaration } from '../../resource/references/reference-declaration.ts';
import type { TypeKey } from '../../resource/type/index-entry.ts';

/** A declared reference of the type `from`. */
export type ReferenceFrom = ReferenceDeclaration & { readonly from: TypeKey };

/** An object that names another object. `uid`: the uid that the named object had at the decision, if it existed. */
export type Referrer = {
  readonly type: TypeKey;
  readonly name: string;
  readonly uid: string | undefined;
};

/** Selects up to `limit` objects of one type, in the order of their names, beginning after the name `after`. */
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
 * An intent for which an append may be pending. `object`: the target of the append, as `<type>/<name>`. `through`: the
 * greatest revision that the append may expect; -1 for an absent object. `position`: the position of the intent in the
 * log.
 */
export type PendingIntent = { readonly object: string; readonly through: number; readonly position: LogPosition };

/** The references of objects, and the objects that name an object, in the state that this node has folded. */
export type ReferenceReader = {
  /** The declared references to objects of a type, according to the latest declarations in the log. */
  declaredTo(type: TypeKey): readonly ReferenceFrom[];
  /** The references that a type declares, according to its latest declaration in the log. */
  declaredBy(type: TypeKey): readonly ReferenceDeclaration[];
  /** The references of an object, as its last event contains them. */
  of(type: TypeKey, name: string): readonly HeldReference[];
  /** The objects that name `target` (`<type>/<name>`) in the field of this reference. */
  referrers(target: string, reference: Pick<ReferenceFrom, 'from' | 'field'>, page: ReferrerPage): readonly Referrer[];
  /** The names of the type's objects that have references. */
  referring(type: TypeKey, page: ReferrerPage): readonly string[];
  /** The state of the object with the key `<type>/<name>`; undefined if it does not exist. */
  target(key: string): TargetState | undefined;
  /** The pending deletions of the object `<type>/<name>` that were announced before the position `before`. */
  closings(object: string, before: LogPosition): readonly PendingIntent[];
  /** The pending writes that will name `target` (`<type>/<name>`) and were announced before the position `before`. */
  naming(target: string, before: LogPosition): readonly PendingIntent[];
  /** Whether an object is marked for deletion; undefined if it does not exist. */
  isMarked(type: TypeKey, name: string): boolean | undefined;
};
