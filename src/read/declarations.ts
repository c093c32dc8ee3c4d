import type { TypeKey } from '../resource/index-entry.ts';

/** What the log says of a type's declarations, as far as this node has folded it. */
export type DeclarationReader = {
  /**
   * The names of the indexes of which an event says that an object holds a value: those that are unique or once were. Events go on
   * saying which of their values are held, so that nothing is lost while an index is not unique (consistency protocol, 1).
   */
  onceUnique(type: TypeKey): ReadonlySet<string>;
};
