import { acceptedRangesMax, acceptHeaderKeptLengthMax, acceptHeadersKeptMax } from '../../limits/requests.ts';
import { jsonType } from './media-types.ts';

/** One media range of an Accept header (RFC 9110, 12.5.1). */
export type MediaRange = {
  /** In lower case; may be a wildcard. */
  readonly type: string;
  /**
   * The parameters before `q`, with names in lower case and without quotes. If a name occurs twice, the first value is
   * used.
   */
  readonly parameters: ReadonlyMap<string, string>;
  /** Above 0 and at most 1. */
  readonly q: number;
};

/**
 * Returns the media ranges of an Accept header: highest `q` first, then in the order sent. Malformed ranges, and ranges
 * with `q=0`, are dropped. As in Kubernetes, a malformed `q` means 1.
 *
 * Reads at most `acceptedRangesMax` ranges. Caches the results for short headers, because a client sends the same
 * header with each request.
 */
export function parseAccept(header: string | undefined): readonly MediaRange[] {
  if (header === undefined) return [];
  const present = parsed.get(header);
  if (present !== undefined) return present;
  const ranges = rangesOf(header);
  if (header.length > acceptHeaderKeptLengthMax) return ranges;
  const [oldest] = parsed.keys();
  if (parsed.size >= acceptHeadersKeptMax && oldest !== undefined) parsed.delete(oldest);
  parsed.set(header, ranges);
  return ranges;
}

const parsed = new Map<string, readonly MediaRange[]>();

/** Returns whether the header is missing, or is a usual header that requests JSON. Does not parse the header. */
export function isPlainJson(header: string | undefined): boolean {
  return header === undefined || header === '*/*' || header === jsonType || header === 'application/json, */*';
}

function rangesOf(header: string): readonly MediaRange[] {
  const ranges = splitOutsideQuotes(header, ',', acceptedRangesMax)
    .map(rangeOf)
    .filter((range) => range !== undefined)
    .filter(({ q }) => q > 0);
  // The sort is stable, so ranges with equal `q` keep their order.
  return ranges.sort((left, right) => right.q - left.q);
}

/** Returns whether a range includes the media type `offered`, which has no parameters. */
export function includesType({ type }: MediaRange, offered: string): boolean {
  if (type === offered || type === '*/*') return true;
  return type.endsWith('/*') && offered.startsWith(type.slice(0, -1));
}

/** Two tokens (RFC 9110, 5.6.2), separated by a slash. */
const typeForm = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+$/u;

function rangeOf(text: string): MediaRange | undefined {
  const [first = '', ...rest] = splitOutsideQuotes(text, ';', acceptedRangesMax);
  const name = first.trim().toLowerCase();
  // The Accept header of Java's HTTP client ends with the non-standard range `*; q=.2`.
  const type = name === '*' ? '*/*' : name;
  if (!typeForm.test(type)) return undefined;
  const parameters = new Map<string, string>();
  for (const part of rest) {
    const equals = part.indexOf('=');
    const parameter = (equals === -1 ? part : part.slice(0, equals)).trim().toLowerCase();
    const value = equals === -1 ? '' : unquoted(part.slice(equals + 1).trim());
    if (parameter === 'q') return { type, parameters, q: weightOf(value) };
    if (parameter !== '' && !parameters.has(parameter)) parameters.set(parameter, value);
  }
  return { type, parameters, q: 1 };
}

function weightOf(text: string): number {
  const weight = text === '' ? 1 : Number(text);
  return weight >= 0 ? Math.min(weight, 1) : 1;
}

function unquoted(value: string): string {
  if (!value.startsWith('"')) return value;
  return value.replace(/^"/u, '').replace(/"$/u, '').replaceAll(/\\(.)/gu, '$1');
}

/** Splits a text at the separators outside of quotes, into at most `countMax` parts. */
function splitOutsideQuotes(text: string, separator: string, countMax: number): string[] {
  const parts: string[] = [];
  if (!text.includes('"')) return text.split(separator, countMax);
  let start = 0;
  let isQuoted = false;
  for (let index = 0; index < text.length && parts.length < countMax; index++) {
    const character = text[index];
    if (isQuoted && character === '\\') index++;
    else if (character === '"') isQuoted = !isQuoted;
    else if (character === separator && !isQuoted) {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  if (parts.length < countMax) parts.push(text.slice(start));
  return parts;
}
