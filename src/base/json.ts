import { isObject } from './guards.ts';
import { escapeToken } from './reference-token.ts';

/** A JSON value. `base` must not import the equal type `JsonValue` from `resource`. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [member: string]: Json };

/** Returns whether a value that was parsed from JSON is a list. The elements are not checked. */
export function isJsonList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

export type JsonProblem = {
  readonly detail: string;
  /** The byte offset of the problem in the body; absent if unknown, or for an empty body or malformed UTF-8. */
  readonly offset?: number;
};

export type DecodedJson =
  /** `values` is the number of values in `value`, including `value` itself. */
  | { readonly ok: true; readonly value: Json; readonly values: number }
  | { readonly ok: false; readonly problem: JsonProblem };

/**
 * Decodes untrusted JSON (RFC 8259). Also refuses input that two JSON parsers could read differently: malformed UTF-8,
 * duplicate keys, the key `__proto__`, numbers too large for a double, and nesting deeper than `depthMax`.
 *
 * Valid input costs one scan and one walk in addition to `JSON.parse`. The scan counts the colons outside of strings,
 * and the walk counts the keys of the parsed value. Equal counts prove that `JSON.parse` has dropped no duplicate key.
 */
export function decodeJson(bytes: Uint8Array, options: { readonly depthMax: number }): DecodedJson {
  if (bytes.length === 0) return refused('the body is empty');
  const scanned = scan(bytes, options.depthMax);
  if (scanned.tooDeepAt !== undefined) {
    return refused(`the body nests deeper than ${String(options.depthMax)} levels`, scanned.tooDeepAt);
  }
  const text = utf8(bytes);
  if (text === undefined) return refused('the body is not valid UTF-8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problem: new Locator(text).problem() };
  }
  const tally = { keys: 0, values: 0, forbidden: false };
  if (!isClean(value, tally) || tally.forbidden || tally.keys !== scanned.colons) {
    return { ok: false, problem: new Locator(text).problem() };
  }
  return { ok: true, value, values: tally.values };
}

/**
 * Returns whether two values are equal as JSON. Only the order of members is ignored, not the order of array elements.
 */
export function deepEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left)) {
    return (
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((element: unknown, index) => deepEqual(element, right[index]))
    );
  }
  if (Array.isArray(right)) return false;
  const members = new Map(Object.entries(right));
  const entries = Object.entries(left);
  return (
    entries.length === members.size &&
    entries.every(([member, value]) => members.has(member) && deepEqual(value, members.get(member)))
  );
}

function refused(detail: string, offset?: number): DecodedJson {
  return { ok: false, problem: offset === undefined ? { detail } : { detail, offset } };
}

/**
 * Decodes UTF-8; returns undefined for malformed bytes. Malformed bytes decode to U+FFFD, so only a text with this rare
 * character is encoded again and compared.
 */
function utf8(bytes: Uint8Array): string | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString('utf8');
  return !text.includes('\ufffd') || Buffer.from(text, 'utf8').equals(buffer) ? text : undefined;
}

const quote = 0x22,
  backslash = 0x5c,
  colon = 0x3a,
  brace = 0x7b,
  bracket = 0x5b,
  closingBrace = 0x7d,
  closingBracket = 0x5d;

type Scanned = {
  readonly colons: number;
  readonly tooDeepAt: number | undefined;
};

/**
 * Counts colons outside of strings, and finds the first value that is nested deeper than `depthMax`. Exact only for
 * valid JSON.
 */
function scan(bytes: Uint8Array, depthMax: number): Scanned {
  let colons = 0;
  let depth = 0;
  const { length } = bytes;
  for (let at = 0; at < length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) {
      at += 1;
      while (at < length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
    } else if (byte === colon) {
      colons += 1;
    } else if (byte === brace || byte === bracket) {
      depth += 1;
      if (depth > depthMax) return { colons, tooDeepAt: at };
    } else if (byte === closingBrace || byte === closingBracket) {
      depth -= 1;
    }
  }
  return { colons, tooDeepAt: undefined };
}

type Tally = {
  keys: number;
  values: number;
  forbidden: boolean;
};

/**
 * Counts the keys and values of a parsed value in `tally`, and sets `forbidden` for a key `__proto__` or an infinite
 * number. Always returns true: the value comes from `JSON.parse`, and the type predicate only informs the compiler.
 * `for in` is the engine's fastest walk of plain objects.
 */
function isClean(value: unknown, tally: Tally): value is Json {
  tally.values += 1;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) tally.forbidden = true;
  } else if (Array.isArray(value)) {
    for (const element of value) isClean(element, tally);
  } else if (isObject(value)) {
    for (const member in value) {
      tally.keys += 1;
      if (member === '__proto__') tally.forbidden = true;
      else isClean(value[member], tally);
    }
  }
  return true;
}

const whitespace = /[ \t\n\r]*/y;
const stringToken = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const numberToken = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const wordToken = /true|false|null/y;

/** Parses a refused text to locate its first problem. `scan` has already checked the depth. */
class Locator {
  readonly #text: string;
  /** The UTF-16 offset of the next character. */
  #at = 0;
  /** The first problem. Later problems are ignored. */
  #problem: JsonProblem | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  problem(): JsonProblem {
    this.#value('');
    this.#skip(whitespace);
    if (this.#problem === undefined && this.#at < this.#text.length) this.#unexpected('the end of the body');
    return this.#problem ?? { detail: 'the body is not valid JSON' };
  }

  #value(pointer: string): void {
    this.#skip(whitespace);
    const next = this.#text[this.#at];
    if (next === '{') this.#members(pointer);
    else if (next === '[') this.#elements(pointer);
    else if (next === '"') this.#string();
    else if (next === '-' || (next !== undefined && next >= '0' && next <= '9')) this.#number(pointer);
    else if (!this.#skip(wordToken)) this.#unexpected('a value');
  }

  #members(pointer: string): void {
    const seen = new Set<string>();
    this.#sequence('}', () => {
      const start = this.#at;
      const key = this.#string();
      if (key === undefined) return;
      const place = `${pointer}/${escapeToken(key)}`;
      if (key === '__proto__') this.#record(`the key "__proto__" is not allowed (${place})`, start);
      if (seen.has(key)) this.#record(`the key ${JSON.stringify(key)} appears twice in one object (${place})`, start);
      seen.add(key);
      this.#skip(whitespace);
      if (this.#text[this.#at] !== ':') {
        this.#unexpected('":"');
        return;
      }
      this.#at += 1;
      this.#value(place);
    });
  }

  #elements(pointer: string): void {
    let index = 0;
    this.#sequence(']', () => {
      this.#value(`${pointer}/${String(index)}`);
      index += 1;
    });
  }

  /** Parses the comma-separated items between two brackets. */
  #sequence(closing: '}' | ']', item: () => void): void {
    this.#at += 1;
    this.#skip(whitespace);
    if (this.#text[this.#at] === closing) {
      this.#at += 1;
      return;
    }
    while (this.#problem === undefined) {
      this.#skip(whitespace);
      item();
      this.#skip(whitespace);
      const next = this.#text[this.#at];
      if (next !== ',' && next !== closing) this.#unexpected(`"," or "${closing}"`);
      this.#at += 1;
      if (next === closing) return;
    }
  }

  #string(): string | undefined {
    const start = this.#at;
    if (!this.#skip(stringToken)) {
      this.#unexpected(
        this.#text[start] === '"'
          ? 'a string without raw control characters or unknown escapes, and its closing quote'
          : 'a quoted key',
      );
      return undefined;
    }
    const text: unknown = JSON.parse(this.#text.slice(start, this.#at));
    return typeof text === 'string' ? text : undefined;
  }

  #number(pointer: string): void {
    const start = this.#at;
    if (!this.#skip(numberToken)) {
      this.#unexpected('a number');
    } else if (!Number.isFinite(Number(this.#text.slice(start, this.#at)))) {
      this.#record(`the number at ${pointer === '' ? 'the top' : pointer} is too large`, start);
    }
  }

  /** Skips the text that `token` matches at the current offset; returns false without a match. */
  #skip(token: RegExp): boolean {
    token.lastIndex = this.#at;
    if (!token.test(this.#text)) return false;
    this.#at = token.lastIndex;
    return true;
  }

  #unexpected(wanted: string): void {
    const found = this.#text[this.#at];
    this.#record(
      `expected ${wanted}, found ${found === undefined ? 'the end of the body' : JSON.stringify(found)}`,
      this.#at,
    );
  }

  #record(detail: string, at: number): void {
    const offset = Buffer.byteLength(this.#text.slice(0, at));
    this.#problem ??= { detail: `${detail}, at byte ${String(offset)}`, offset };
  }
}
