/**
 * The level of a log: the kinds of events that nodes may write to it. It rises once every live node reads the next
 * level (consistency protocol, 7), and never falls. A log without a recorded level has level 1.
 *
 * 1: all events from before levels existed.
 * 2: `TypeDeclared` in streams `type:<type>`, `UniqueEnforced` in `unique:<type>`, and `declared` in the metadata of
 * object events.
 * 3: `TreeHead` in `platform:tree`, `KeyOffered` and `KeySigned` in `platform:keys`.
 */
export const firstLevel = 1;
export const declarationsLevel = 2;
export const treeLevel = 3;

/** The highest level that this version reads, and writes once the log has it. */
export const levelRead = 3;
