/**
 * The level of a log: the kinds of events that nodes may write to the log. The level increases when every running node
 * can read the next level (docs/spec/consistency.md, 7), and never decreases. A log without a recorded level has level
 * 1.
 *
 * - 1: all other events.
 * - 2: `TypeDeclared` in streams `type:<type>`, `UniqueEnforced` in `unique:<type>`, and `declared` in the metadata of
 *   object events.
 * - 3: `TreeHead` in `platform:tree`, `KeyOffered` and `KeySigned` in `platform:keys`.
 * - 4: `refs` in object events, `references` in `TypeDeclared`, and the streams `ref:<object>` and `closing:<object>`.
 */
export const firstLevel = 1;
export const declarationsLevel = 2;
export const treeLevel = 3;
export const referencesLevel = 4;

/**
 * The highest level that this version can read. This version writes events of a level only into a log that has at least
 * this level.
 */
export const levelRead = 4;
