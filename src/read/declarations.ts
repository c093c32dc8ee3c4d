import type { StreamRevision } from '../log/log.ts';
import type { Declaration } from '../resource/type/declaration.ts';
import type { TypeKey } from '../resource/type/index-entry.ts';

/** A recorded declaration, and its revision in the type's stream. */
export type Declared = {
  readonly revision: StreamRevision;
  readonly declaration: Declaration;
  /**
   * For each unique index, the revision of the declaration since which the index is unique over the same values without
   * interruption. A value held according to an older event may have no claim.
   */
  readonly since: Readonly<Record<string, number>>;
  /** Like `since`, but a change of the function that computes the index does not count as an interruption. */
  readonly always: Readonly<Record<string, number>>;
  /**
   * By index: the `since` for which the index is enforced, so that every value that an object holds in it has a claim
   * (consistency protocol, 1). An index with another `since` is not enforced.
   */
  readonly enforced: Readonly<Record<string, number>>;
  /**
   * The number of events, folded since this declaration, that were decided before one of its indexes became unique:
   * under an older declaration, or under none.
   */
  readonly late: number;
};

/** Whether every object with a value of the index holds the claim of the value. */
export function isEnforced({ since, enforced }: Pick<Declared, 'since' | 'enforced'>, index: string): boolean {
  return since[index] !== undefined && enforced[index] === since[index];
}

/**
 * An object that was written after an index became unique, by a node that still used an older declaration. So the
 * node did not claim the object's value.
 */
export type LateWrite = {
  readonly type: TypeKey;
  readonly name: string;
  readonly declared: number | undefined;
  readonly indexes: readonly string[];
};

/** The declarations of types in the log, as far as this node has folded it. */
export type DeclarationReader = {
  /** The latest declaration; undefined for a type that was never declared. */
  declared(type: TypeKey): Declared | undefined;
  /**
   * The indexes for which events list held values: those that are unique, and those that once were. Events keep listing
   * them while an index is not unique, so that no information is lost (consistency protocol, 1).
   */
  onceUnique(type: TypeKey): ReadonlySet<string>;
};

/** The content of an object's row: the last event's revision, the declaration that decided it, the response's JSON. */
export type WrittenObject = {
  readonly revision: StreamRevision;
  readonly declared: number | undefined;
  readonly bytes: Uint8Array;
};

/** Names in order; `next` is where the next page begins, undefined at the end. */
export type OlderPage = { readonly names: readonly string[]; readonly next: string | undefined };

/** Finds objects by the declaration that decided their last write. */
export type OlderReader = {
  /** Names after `after` of objects written under no declaration, or under one before revision `before`. */
  page(type: TypeKey, before: StreamRevision, after: string | undefined): OlderPage;
  written(type: TypeKey, name: string): WrittenObject | undefined;
};

export type DeclarationFeed = {
  /**
   * Calls `listener` after a commit with another declaration of a type, or with a changed state of its unique indexes.
   * `listener` must not throw.
   */
  subscribe(listener: (type: TypeKey) => void): () => void;
  /** Calls `listener` when a late write is folded. `listener` must not throw. */
  onLate(listener: (late: LateWrite) => void): () => void;
};

/** The log's level in the events that this node has folded. */
export type LevelReader = {
  level(): number;
  /** Calls `listener` when the level has risen. `listener` must not throw. */
  subscribe(listener: (level: number) => void): () => void;
};
