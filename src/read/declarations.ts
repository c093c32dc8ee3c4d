import type { StreamRevision } from '../log/log.ts';
import type { Declaration } from '../resource/type/declaration.ts';
import type { TypeKey } from '../resource/type/index-entry.ts';

/** A recorded declaration, with its revision in the type's stream. */
export type Declared = {
  readonly revision: StreamRevision;
  readonly declaration: Declaration;
  /**
   * By index: the revision of the declaration that made the index unique, or that last changed the function of the
   * unique index. Values in events of earlier declarations may have no claim.
   */
  readonly since: Readonly<Record<string, number>>;
  /** Like `since`, but changes of the function are ignored. */
  readonly always: Readonly<Record<string, number>>;
  /**
   * By index: the value of `since` when the index was enforced. If it equals the present `since`, each value of an
   * object in the index has a claim (docs/spec/consistency.md, 1). Otherwise the index is not enforced.
   */
  readonly enforced: Readonly<Record<string, number>>;
  /**
   * The number of late events after this declaration. A late event was decided under an older declaration, or under
   * none, before one of the indexes became unique.
   */
  readonly late: number;
};

/** Returns whether each object with a value in the index has the claim of the value. */
export function isEnforced({ since, enforced }: Pick<Declared, 'since' | 'enforced'>, index: string): boolean {
  return since[index] !== undefined && enforced[index] === since[index];
}

/**
 * A write of an object after an index became unique, by a node with an older declaration. The node did not claim the
 * object's value.
 */
export type LateWrite = {
  readonly type: TypeKey;
  readonly name: string;
  readonly declared: number | undefined;
  readonly indexes: readonly string[];
};

/** The declarations of types in the folded events. */
export type DeclarationReader = {
  /** The latest declaration; undefined for a type that was never declared. */
  declared(type: TypeKey): Declared | undefined;
  /**
   * Returns the indexes that are unique now or were unique earlier. Events must list the values of objects in these
   * indexes (docs/spec/consistency.md, 1).
   */
  onceUnique(type: TypeKey): ReadonlySet<string>;
};

/** The revision of the object's last event, the declaration that decided this event, and the response JSON. */
export type WrittenObject = {
  readonly revision: StreamRevision;
  readonly declared: number | undefined;
  readonly bytes: Uint8Array;
};

/** Names in ascending order. `next` is the start of the next page; undefined on the last page. */
export type OlderPage = {
  readonly names: readonly string[];
  readonly next: string | undefined;
};

/** Finds objects by the declaration that decided their last write. */
export type OlderReader = {
  /**
   * Returns the names after `after` of objects with a last write before the declaration `before`, or without a
   * declaration.
   */
  page(type: TypeKey, before: StreamRevision, after: string | undefined): OlderPage;
  written(type: TypeKey, name: string): WrittenObject | undefined;
};

export type DeclarationFeed = {
  /**
   * Calls `listener` after a commit that changes the declaration of a type or the state of its unique indexes.
   * `listener` must not throw.
   */
  subscribe(listener: (type: TypeKey) => void): () => void;
  /** Calls `listener` when a late write is folded. `listener` must not throw. */
  onLate(listener: (late: LateWrite) => void): () => void;
};

/** The level of the log in the folded events. */
export type LevelReader = {
  level(): number;
  /** Calls `listener` when the level has risen. `listener` must not throw. */
  subscribe(listener: (level: number) => void): () => void;
};
