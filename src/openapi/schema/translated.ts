import type { Schema } from '../../resource/schema/schema-check.ts';

/** The translation of a JSON Schema 2020-12 into a schema object of OpenAPI 3.0. */
export type Translated = {
  readonly schema: Schema;
  /** Whether the translation accepts exactly the values of the original. An inexact translation accepts more values. */
  readonly isExact: boolean;
  /** The size of the translation: the number of its schemas, plus the bytes of its values divided by 16. */
  readonly weight: number;
};

export const anything: Translated = { schema: {}, isExact: true, weight: 1 };
/** The translation of a schema that OpenAPI 3.0 cannot express. */
export const unknown: Translated = { schema: {}, isExact: false, weight: 1 };
export const nothing: Translated = { schema: { not: {} }, isExact: true, weight: 2 };

export function isAnything({ schema }: Translated): boolean {
  return Object.keys(schema).length === 0;
}

/** Returns a schema that accepts the values that all parts accept. */
export function allOf(parts: readonly Translated[]): Translated {
  const kept = parts.filter((part) => !isAnything(part));
  const isExact = parts.every((part) => part.isExact);
  const [only] = kept;
  if (only === undefined) return { ...anything, isExact };
  if (kept.length === 1) return { ...only, isExact };
  return { schema: { allOf: schemasOf(kept) }, isExact, weight: weightOf(kept) };
}

/** Returns a schema that accepts the values that at least one part accepts. */
export function anyOf(parts: readonly Translated[]): Translated {
  const open = parts.find(isAnything);
  // If a part accepts every value, the result accepts every value. The result is exact if such a part is exact.
  if (open !== undefined) return { ...anything, isExact: parts.some((part) => isAnything(part) && part.isExact) };
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  return {
    schema: { anyOf: schemasOf(parts) },
    isExact: areExact(parts),
    weight: weightOf(parts),
  };
}

/**
 * Returns a schema that accepts the values that exactly one part accepts. With an inexact part, `oneOf` could refuse
 * valid values, so the result uses `anyOf`.
 */
export function oneOf(parts: readonly Translated[]): Translated {
  if (!areExact(parts)) return { ...anyOf(parts), isExact: false };
  return {
    schema: { oneOf: schemasOf(parts) },
    isExact: true,
    weight: weightOf(parts),
  };
}

/**
 * Returns a schema that accepts the values that the part refuses. The negation of an inexact part would refuse valid
 * values, so the result is then `unknown`.
 */
export function not(part: Translated): Translated {
  return part.isExact
    ? {
        schema: { not: part.schema },
        isExact: true,
        weight: part.weight + 1,
      }
    : unknown;
}

/**
 * The maximum weight of an `if` that is translated exactly. An exact translation contains the `if` twice, so nested
 * conditions would double in size with each level.
 */
const repeatedWeightMax = 64;

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
