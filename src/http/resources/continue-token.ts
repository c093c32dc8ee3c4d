import { logStart, type LogPosition } from '../../log/log.ts';
import type { OrderPlace } from '../../resource/query/list-query.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { decodeParts, encodeParts, identityHash, isCount, positionOf } from './page-token.ts';

/**
 * The continuation of a chain of pages. A token grants no rights: a forged token only selects another start within the
 * data that the caller may read.
 */
export type ContinueToken = {
  /** The first page's position, which all pages of the chain report. */
  readonly position: LogPosition;
  readonly after: OrderPlace;
  /** The number of the page that this token requests. The first page has the number 1. */
  readonly page: number;
};

export type DecodedToken =
  | { readonly ok: true; readonly token: ContinueToken }
  /**
   * `malformed`: the text is not a token, or belongs to another query. `expired`: since the previous page, the type has
   * changed in a way that may affect the list.
   */
  | { readonly ok: false; readonly problem: 'malformed' | 'expired' };

/** The query to which a token is bound: the type, and the parameters for the selection, the order and a past moment. */
export type QueryIdentity = {
  readonly type: ResourceType;
  readonly selects: readonly (readonly string[])[];
};

export function encodeToken(token: ContinueToken, identity: QueryIdentity): string {
  const { keys, created, name } = token.after;
  return encodeParts([
    queryHash(identity),
    fingerprint(identity),
    token.position.toString(),
    token.page,
    created,
    name,
    keys.map((key) => key ?? null),
  ]);
}

export function decodeToken(text: string, identity: QueryIdentity): DecodedToken {
  const malformed = { ok: false, problem: 'malformed' } as const;
  const parts = decodeParts(text, { count: 7, depthMax: 2 });
  if (parts === undefined) return malformed;
  const [query, types, first, page, ...place] = parts;
  if (query !== queryHash(identity)) return malformed;
  if (types !== fingerprint(identity)) return { ok: false, problem: 'expired' };
  const after = placeOf(place);
  // The position is 0 if the log had no events at the first page.
  const position = first === '0' ? logStart : positionOf(first);
  if (position === undefined || !isCount(page) || after === undefined) return malformed;
  return { ok: true, token: { position, page, after } };
}

function placeOf([created, name, keys]: readonly unknown[]): OrderPlace | undefined {
  if (!isCount(created) || typeof name !== 'string' || !isKeys(keys)) return undefined;
  return { created, name, keys: keys.map((key) => key ?? undefined) };
}

function isKeys(raw: unknown): raw is readonly (string | number | null)[] {
  return Array.isArray(raw) && raw.every((key) => key === null || typeof key === 'string' || typeof key === 'number');
}

function queryHash({ type, selects }: QueryIdentity): string {
  return identityHash([type.key, type.version, selects]);
}

function fingerprint({ type }: QueryIdentity): string {
  return type.fingerprint.slice(0, 16);
}
