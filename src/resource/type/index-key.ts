import { indexValueBytesMax } from '../../limits/objects.ts';
import type { IndexKey } from './index-entry.ts';
import type { IndexValueType } from './resource-type.ts';

/**
 * Converts index values to keys. Keys are comparable with `<` in the order of decision 4.4, which is code point order
 * for strings.
 */

/**
 * Without the `u` flag, the first two patterns match UTF-16 code units. Below U+D800, UTF-16 order and code point order
 * are equal.
 */
const movedUnit = /[\ud800-\uffff]/;
const movedUnits = /[\ud800-\uffff]/g;
const loneSurrogates = /\p{Surrogate}/gu;

/**
 * Returns the key of a text. Keys sort in UTF-16 order as their texts sort in code point order: surrogates are moved
 * behind U+E000..U+FFFF. Lone surrogates become U+FFFD, so every key starts below U+FC00. Different texts without lone
 * surrogates have different keys.
 */
export function stringKey(text: string): string {
  if (!movedUnit.test(text)) return text;
  return text.replace(loneSurrogates, '\ufffd').replace(movedUnits, (unit) => {
    const code = unit.charCodeAt(0);
    return String.fromCharCode(code >= 0xe000 ? code - 0x800 : code + 0x2000);
  });
}

/** The inverse of `stringKey`, for display. Lone surrogates are not restored. */
export function stringOfKey(key: string): string {
  if (!movedUnit.test(key)) return key;
  return key.replace(movedUnits, (unit) => {
    const code = unit.charCodeAt(0);
    return String.fromCharCode(code >= 0xf800 ? code - 0x2000 : code + 0x800);
  });
}

const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/u;
const timestamp =
  /^(\d{4}-\d{2}-(\d{2}))[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/u;

let lastText = '';
let lastMs: number | undefined;

/**
 * Returns the epoch milliseconds of an RFC 3339 timestamp, truncated to milliseconds; undefined for any other text.
 * Caches the last result, since a write reads the time of the new object more than once.
 */
export function timestampMs(text: string): number | undefined {
  if (text !== lastText) {
    lastMs = parsedMs(text);
    lastText = text;
  }
  return lastMs;
}

function parsedMs(text: string): number | undefined {
  const parts = timestamp.exec(text);
  if (parts === null) return undefined;
  // The engine parses 30 February as a day in March, so the day of the parsed date is compared with the text.
  const day = Number(parts[2]);
  if (day > 28 && new Date(`${parts[1] ?? ''}T00:00:00Z`).getUTCDate() !== day) return undefined;
  const parsed = Date.parse(text.toUpperCase());
  return Number.isNaN(parsed) ? undefined : parsed;
}

/** Returns the key of a text in an index of `type`; undefined if the text is not valid for the type. */
export function keyOfText(type: IndexValueType, text: string): IndexKey | undefined {
  switch (type) {
    case 'string':
      return stringKey(text);
    case 'boolean':
      return text === 'true' ? 1 : text === 'false' ? 0 : undefined;
    case 'timestamp':
      return timestampMs(text);
    case 'number':
      return decimal.test(text) ? finite(Number(text)) : undefined;
  }
}

export type KeyOrProblem =
  { readonly ok: true; readonly key: IndexKey } | { readonly ok: false; readonly problem: string };

/**
 * Returns the key of one value of an object, or a problem. A string is valid for an index of any type if the string can
 * be parsed, because an index function may return strings (seed 2.6).
 */
export function keyOfValue(type: IndexValueType, value: unknown): KeyOrProblem {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    return { ok: false, problem: `cannot index ${kindOf(value)}` };
  if (typeof value === 'number' && !Number.isFinite(value))
    return { ok: false, problem: `cannot index ${String(value)}` };
  if (typeof value === 'string' && isTooLong(value))
    return {
      ok: false,
      problem: `must be at most ${String(indexValueBytesMax)} bytes, is ${String(Buffer.byteLength(value))}`,
    };
  const key =
    type === 'string'
      ? stringKey(String(value))
      : typeof value === 'string'
        ? keyOfText(type, value)
        : keyOfPlain(type, value);
  return key === undefined ? { ok: false, problem: `${shown(value)} is not a valid ${type}` } : { ok: true, key };
}

/** Returns the readable form of a key. */
export function textOfKey(type: IndexValueType, key: IndexKey): string {
  if (typeof key === 'string') return stringOfKey(key);
  if (type === 'boolean') return key === 1 ? 'true' : 'false';
  return type === 'timestamp' ? new Date(key).toISOString() : String(key);
}

function keyOfPlain(type: IndexValueType, value: number | boolean): IndexKey | undefined {
  if (type === 'boolean') return typeof value === 'boolean' ? Number(value) : undefined;
  if (typeof value !== 'number') return undefined;
  // A Date cannot be more than 8.64e15 milliseconds from the epoch.
  return type === 'timestamp' && Math.abs(value) > 8.64e15 ? undefined : finite(value);
}

/**
 * Returns the number as a key; undefined for a number that is not finite. Adding 0 converts -0 to 0, since both must be
 * the same key.
 */
function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value + 0 : undefined;
}

function isTooLong(text: string): boolean {
  return text.length * 3 > indexValueBytesMax && Buffer.byteLength(text) > indexValueBytesMax;
}

function shown(value: string | number | boolean): string {
  return typeof value === 'string'
    ? JSON.stringify(value.length > 64 ? `${value.slice(0, 64)}…` : value)
    : String(value);
}

export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (value instanceof Promise) return 'a promise';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
