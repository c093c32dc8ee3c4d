import { isObject } from '../../base/guards.ts';

/**
 * Returns the literal type of a JSON value. Arrays and objects are readonly, as in the type of an expression with `as
 * const`.
 */
export function literalText(value: unknown): string {
  if (typeof value === 'string') return stringText(value);
  // No literal type can express a number such as 1e400, which is parsed as Infinity.
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'number';
  if (Array.isArray(value)) return `readonly [${value.map(literalText).join(', ')}]`;
  if (!isObject(value)) return String(value);
  const members = Object.entries(value).map(([name, inner]) => `readonly ${memberName(name)}: ${literalText(inner)}`);
  return members.length === 0 ? '{}' : `{ ${members.join('; ')} }`;
}

export function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/u.test(name) ? name : stringText(name);
}

/** Returns a string literal. Characters that editors do not show or that change the direction of text are escaped. */
export function stringText(text: string): string {
  const quoted = JSON.stringify(text).replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
  if (text.includes("'") && !text.includes('"')) return quoted;
  return `'${quoted.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}
