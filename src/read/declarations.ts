import type { StreamRevision } from '../log/log.ts';
import type { Declaration } from '../resource/type/declaration.ts';
import type { TypeKey } from '../resource/type/index-entry.ts';

/** A declaration that stands in the log, and its revision in its type's stream. */
export type Declared = {
  readonly revision: StreamRevision;
  readonly declaration: Declaration;
  /**
   * Of each unique index the revision of the declaration since which it is that without a break, of the same values. What
   * events of earlier declarations say is held may be claimed by nobody.
   */
  readonly since: Readonly<Record<string, number>>;
};

/** What the log says of types' declarations, as far as this node has folded it. */
export type DeclarationReader = {
  /** The last one; undefined where the type was never declared. */
  declared(type: TypeKey): Declared | undefined;
  /**
   * The names of the indexes of which an event says that an object holds a value: those that are unique or once were. Events go on
   * saying which of their values are held, so that nothing is lost while an index is not unique (consistency protocol, 1).
   */
  onceUnique(type: TypeKey): ReadonlySet<string>;
};

export type DeclarationFeed = {
  /** Calls `listener` once another declaration of the type is folded. It must not throw. */
  subscribe(listener: (type: TypeKey) => void): () => void;
};

/** Which level the log has, as far as this node has folded it. */
export type LevelReader = {
  level(): number;
  /** Calls `listener` once it has risen. It must not throw. */
  subscribe(listener: (level: number) => void): () => void;
};
