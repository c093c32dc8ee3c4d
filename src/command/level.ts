/**
 * The level of a log: what nodes may write to it. It rises once every live node reads the next one (consistency protocol, 7), and
 * never falls. A log that does not say which it has is of the first.
 *
 * 1: what was written before there were levels.
 * 2: `TypeDeclared` in streams `type:<type>`, `UniqueEnforced` in `unique:<type>`, and `declared` in the metadata of objects' events.
 */
export const firstLevel = 1;
export const declarationsLevel = 2;

/** The highest that this version reads, and writes once the log is of it. */
export const levelRead = 2;
