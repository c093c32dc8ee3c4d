import { ClientError } from '../client.ts';
import type { RouteRequest } from '../route.ts';

type Value = RouteRequest['query'][string] | undefined;

export function badRequest(detail: string): ClientError {
  return new ClientError(detail, { reason: 'BadRequest', status: 400 });
}

/** Returns all values of a repeatable parameter or header. */
export function valuesOf(given: Value): readonly string[] {
  if (given === undefined) return [];
  return typeof given === 'string' ? [given] : given;
}

export function escapeSelectorValue(text: string): string {
  return text.replaceAll(/[\\,=() \t\r\n]/gu, String.raw`\$&`);
}

/** The page of a list. `page` counts from 1. The size 0 means all objects, as in lists of the generated APIs. */
export type PageParameters = {
  readonly page: number;
  readonly size: number;
};

/**
 * Reads `page` (by default 1) and `size` (by default 0).
 *
 * @throws 400 if `page` or `size` is invalid or repeated.
 */
export function readPageParameters(query: RouteRequest['query']): PageParameters {
  const page = wholeNumber(query['page'], 1);
  const size = wholeNumber(query['size'], 0);
  if (page === undefined || size === undefined) throw badRequest('page and size must be whole numbers of at least 0');
  return { page: Math.max(1, page), size };
}

/**
 * Refuses the parameters of the generated APIs that a custom route does not support. An ignored parameter would lead to
 * a wrong response.
 *
 * @throws 400
 */
export function refuseUnsupported(query: RouteRequest['query']): void {
  const unsupported = ['limit', 'continue', 'dryRun', 'at'].find((parameter) => query[parameter] !== undefined);
  if (unsupported !== undefined) throw badRequest(`the parameter ${unsupported} is not supported`);
  if (isWatch(query['watch'])) throw badRequest('watch is not supported: poll the list');
}

function isWatch(given: Value): boolean {
  const [first] = valuesOf(given);
  return first !== undefined && first !== '0' && first.toLowerCase() !== 'false';
}

function wholeNumber(value: Value, absent: number): number | undefined {
  if (value === undefined) return absent;
  return typeof value === 'string' && /^[0-9]{1,9}$/u.test(value) ? Number(value) : undefined;
}
