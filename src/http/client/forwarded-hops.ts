import { forwardedHopLengthMax } from '../../limits/addresses.ts';
import { canonicalAddress } from './ip-address.ts';

/**
 * Reads a list from its end. A trusted proxy writes only the last entries, so earlier malformed entries must not affect
 * the result.
 */
class EntriesFromRight {
  readonly #text: string;
  #end: number;

  constructor(text: string) {
    this.#text = text;
    this.#end = text.length;
  }

  /** Returns the next entry to the left; undefined at the start of the list, or if the entry is too long. */
  next(): string | undefined {
    if (this.#end < 0) return undefined;
    const comma = this.#comma();
    if (comma === undefined) return undefined;
    const entry = this.#text.slice(comma + 1, this.#end).trim();
    this.#end = comma;
    return entry;
  }

  /**
   * Returns the position of the unquoted comma before the entry; -1 for the first entry, undefined if the entry is too
   * long.
   */
  #comma(): number | undefined {
    const first = Math.max(0, this.#end - forwardedHopLengthMax - 1);
    let isQuoted = false;
    for (let index = this.#end - 1; index >= first; index -= 1) {
      const char = this.#text[index];
      if (char === '"' && !this.#isEscaped(index)) isQuoted = !isQuoted;
      else if (char === ',' && !isQuoted) return index;
    }
    return this.#end <= forwardedHopLengthMax ? -1 : undefined;
  }

  /** Returns whether a backslash escapes the character. Proxies quote values of the client, such as `Host`. */
  #isEscaped(place: number): boolean {
    let before = place - 1;
    while (before >= place - forwardedHopLengthMax && this.#text[before] === '\\') before -= 1;
    return (place - 1 - before) % 2 === 1;
  }
}

/** Yields the addresses in a header, nearest hop first, until an entry without an address. */
export function* hopsOf(
  header: string,
  addressOf: (entry: string) => string | undefined,
): Generator<string, undefined> {
  const entries = new EntriesFromRight(header);
  for (let entry = entries.next(); entry !== undefined; entry = entries.next()) {
    const address = addressOf(entry);
    if (address === undefined) return undefined;
    yield address;
  }
  return undefined;
}

/** Returns the address of an entry of `X-Forwarded-For`, which may have a port; undefined if the entry is malformed. */
export function addressOfXForwardedFor(entry: string): string | undefined {
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/u.exec(entry)?.[1];
  if (bracketed !== undefined) return ipv6(bracketed);
  return canonicalAddress(entry) ?? canonicalAddress(/^([\d.]+):\d{1,5}$/u.exec(entry)?.[1] ?? '');
}

/**
 * Returns the address in the `for` parameter of an entry of `Forwarded` (RFC 7239). The result is undefined for
 * `unknown` and obfuscated identifiers, and if the parameter is missing or repeated.
 */
export function addressOfForwarded(entry: string): string | undefined {
  const pair = /\s*([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s";,]*))\s*(?:;|$)/uy;
  const nodes: string[] = [];
  while (pair.lastIndex < entry.length) {
    const [matched, name = '', quoted, token = ''] = pair.exec(entry) ?? [];
    if (matched === undefined) return undefined;
    if (name.toLowerCase() === 'for') nodes.push(quoted ?? token);
  }
  const [node = ''] = nodes;
  return nodes.length === 1 ? addressOfXForwardedFor(node) : undefined;
}

function ipv6(text: string): string | undefined {
  return text.includes(':') ? canonicalAddress(text) : undefined;
}
