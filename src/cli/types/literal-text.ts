import { isObject } from '../../base/guards.ts';

/** The literal type of a JSON value, with readonly arrays and objects as from `as const`. */
export function literalText(value: unknown): string {
  if (typeof value === 'string') return stringText(value);
  // JSON may contain numbers that no literal type can express.
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'number';
  if (Array.isArray(value)) return `readonly [${value.map(literalText).join(', ')}]`;
  if (!isObject(value)) return String(value);
  const members = Object.entries(value).map(([name, inner]) => `readonly ${memberName(name)}: ${literalText(inner)}`);
  return members.length === 0 ? '{}' : `{ ${members.join('; ')} }`;
}

export function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/u.test(name) ? name : stringText(name);
}

/** A string literal. Escapes characters that editors do not show, or that change the direction of text. */
export function stringText(text: string): string {
  const quoted = JSON.stringify(text).replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
  if (text.includes("'") && !text.includes('"')) return quoted;
  return `'${quoted.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}
