import type { Schema } from '../../resource/schema/schema-check.ts';

/** A schema object of OpenAPI 3.0 in place of one of JSON Schema 2020-12. */
export type Translated = {
  readonly schema: Schema;
  /** Whether the translation accepts exactly the same values. Otherwise it accepts more, never fewer. */
  readonly isExact: boolean;
  /** The size: the number of schemas in it, plus the bytes of its values divided by 16. */
  readonly weight: number;
};

export const anything: Translated = { schema: {}, isExact: true, weight: 1 };
/** Replaces a schema that OpenAPI 3.0 cannot express. */
export const unknown: Translated = { schema: {}, isExact: false, weight: 1 };
export const nothing: Translated = { schema: { not: {} }, isExact: true, weight: 2 };

export function isAnything({ schema }: Translated): boolean {
  return Object.keys(schema).length === 0;
}

/** Values that all schemas accept. */
export function allOf(parts: readonly Translated[]): Translated {
  const kept = parts.filter((part) => !isAnything(part));
  const isExact = parts.every((part) => part.isExact);
  const [only] = kept;
  if (only === undefined) return { ...anything, isExact };
  if (kept.length === 1) return { ...only, isExact };
  return { schema: { allOf: schemasOf(kept) }, isExact, weight: weightOf(kept) };
}

/** Values that any of the schemas accepts. */
export function anyOf(parts: readonly Translated[]): Translated {
  const open = parts.find(isAnything);
  // If an inexact part accepts every value, other parts add nothing to it.
  if (open !== undefined) return { ...anything, isExact: parts.some((part) => isAnything(part) && part.isExact) };
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  return { schema: { anyOf: schemasOf(parts) }, isExact: areExact(parts), weight: weightOf(parts) };
}

/** Values that exactly one of the schemas accepts. With an inexact part, `oneOf` could refuse valid values. */
export function oneOf(parts: readonly Translated[]): Translated {
  if (!areExact(parts)) return { ...anyOf(parts), isExact: false };
  return { schema: { oneOf: schemasOf(parts) }, isExact: true, weight: weightOf(parts) };
}

/** Values that the schema refuses. An inexact translation accepts more than the schema, so it is not negated. */
export function not(part: Translated): Translated {
  return part.isExact ? { schema: { not: part.schema }, isExact: true, weight: part.weight + 1 } : unknown;
}

/**
 * The highest weight of an `if` that is repeated: it appears twice in the exact form, so a large one would double with
 * each level.
 */
const repeatedWeightMax = 64;

/** `if`, `then` and `else`. */
export function conditional(condition: Translated, then: Translated, otherwise: Translated): Translated {
  const met = allOf([condition, then]);
  if (condition.isExact && condition.weight <= repeatedWeightMax)
    return anyOf([met, allOf([not(condition), otherwise])]);
  return { ...anyOf([met, otherwise]), isExact: false };
}

function schemasOf(parts: readonly Translated[]): readonly Schema[] {
  return parts.map(({ schema }) => schema);
}

function areExact(parts: readonly Translated[]): boolean {
  return parts.every(({ isExact }) => isExact);
}

function weightOf(parts: readonly Translated[]): number {
  return parts.reduce((sum, { weight }) => sum + weight, 1);
}
