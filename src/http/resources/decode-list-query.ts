import { resourceVersionDigitsMax } from '../../limits/watches.ts';
import { logPosition, type LogPosition } from '../../log/log.ts';
import type { ListQuery, Selection, SortKey, Window } from '../../resource/query/list-query.ts';
import { bindFields } from '../../resource/query/bind-fields.ts';
import { parseSort } from '../../resource/query/sort-keys.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { parseFieldSelector, parseLabelSelector } from '../../resource/query/selector.ts';
import { decodeToken, type ContinueToken, type QueryIdentity } from './continue-token.ts';
import { problem, type Problem, type ProblemResult } from '../problem.ts';
import { checkParameterNames } from '../query-names.ts';

/** The paging of a list: all objects in one page, pages by number, or a chain of pages by `limit` and `continue`. */
export type Paging =
  | { readonly kind: 'all' }
  | { readonly kind: 'page'; readonly page: number; readonly size: number }
  /**
   * `token` is the end of the previous page; undefined for the first page. A `limit` of 0 means all remaining objects.
   */
  | { readonly kind: 'chain'; readonly limit: number; readonly token: ContinueToken | undefined };

export type ListRequest = {
  readonly query: ListQuery;
  readonly paging: Paging;
  readonly identity: QueryIdentity;
  readonly freshness: Freshness;
};

/** The oldest acceptable position. `exact` accepts no other position. */
export type Freshness = {
  readonly notBefore: LogPosition | undefined;
  readonly match: 'not-older' | 'exact';
};

export type Decoded<T> = { readonly ok: true; readonly value: T } | ProblemResult;

/** Decodes the parameters of a list. `hasPast` means that the path supports `at`. */
export function decodeListQuery(
  parameters: URLSearchParams,
  type: ResourceType,
  { hasPast }: { readonly hasPast: boolean },
): Decoded<ListRequest> {
  const misnamed = checkParameterNames(parameters, { hasPast });
  if (misnamed !== undefined) return { ok: false, problem: misnamed };
  const selection = decodeSelection(parameters, type);
  if (!selection.ok) return selection;
  const sort = parseSort(parameters.getAll('sort'), type.indexes);
  if (!sort.ok) return refused(sort.problem);
  const freshness = decodeFreshness(parameters);
  if (!freshness.ok) return freshness;
  if (parameters.has('sendInitialEvents'))
    return { ok: false, problem: unsupported('sendInitialEvents', 'is supported for watches only') };
  const selects = ['labelSelector', 'fieldSelector', 'sort', ...(parameters.has('at') ? ['at'] : [])];
  const identity: QueryIdentity = { type, selects: selects.map((name) => parameters.getAll(name)) };
  const paging = decodePaging(parameters, identity, sort.sort);
  if (!paging.ok) return paging;
  const query = {
    selection: selection.value,
    sort: sort.sort,
    window: windowOf(paging.value),
  };
  return { ok: true, value: { query, paging: paging.value, identity, freshness: freshness.value } };
}

export function decodeSelection(parameters: URLSearchParams, type: ResourceType): Decoded<Selection> {
  const labels = parseLabelSelector(parameters.getAll('labelSelector'));
  if (!labels.ok) return refused(labels.problem);
  const fields = parseFieldSelector(parameters.getAll('fieldSelector'));
  if (!fields.ok) return refused(fields.problem);
  const bound = bindFields(fields.requirements, type.indexes);
  if (!bound.ok) return refused(bound.problem);
  return { ok: true, value: { labels: labels.requirements, fields: bound.requirements } };
}

export function decodeFreshness(parameters: URLSearchParams): Decoded<Freshness> {
  const text = parameters.get('resourceVersion') ?? '';
  const match = parameters.get('resourceVersionMatch') ?? '';
  if (text !== '' && !isPosition(text)) return refused(`resourceVersion: must be a log position, is ${shown(text)}`);
  const unmatched = match === '' ? undefined : matchProblem(match, text);
  if (unmatched !== undefined) return { ok: false, problem: unsupported('resourceVersionMatch', unmatched) };
  const notBefore = text === '' || text === '0' ? undefined : logPosition(BigInt(text));
  return { ok: true, value: { notBefore, match: match === 'Exact' ? 'exact' : 'not-older' } };
}

export function isPosition(text: string): boolean {
  return text.length <= resourceVersionDigitsMax && /^\d+$/u.test(text);
}

function matchProblem(match: string, resourceVersion: string): string | undefined {
  if (match !== 'NotOlderThan' && match !== 'Exact') return `must be NotOlderThan or Exact, is ${shown(match)}`;
  if (resourceVersion === '') return 'requires a resourceVersion';
  return match === 'Exact' && resourceVersion === '0' ? 'Exact requires a resourceVersion other than 0' : undefined;
}

function decodePaging(parameters: URLSearchParams, identity: QueryIdentity, sort: readonly SortKey[]): Decoded<Paging> {
  const page = countOf(parameters, 'page');
  if (!page.ok) return page;
  const size = countOf(parameters, 'size');
  if (!size.ok) return size;
  const limit = countOf(parameters, 'limit');
  if (!limit.ok) return limit;
  const text = parameters.get('continue') ?? '';
  if (page.value === undefined && size.value === undefined)
    return decodeChain(limit.value ?? 0, text, { identity, sort });
  if (limit.value !== undefined || text !== '')
    return refused('page and size cannot be combined with limit and continue');
  return { ok: true, value: pageOf(page.value ?? 1, size.value ?? 0) };
}

/** Page 0 means page 1. Without a size, one page contains all objects. */
function pageOf(page: number, size: number): Paging {
  return size === 0 ? { kind: 'all' } : { kind: 'page', page: Math.max(1, page), size };
}

type OrderedQuery = {
  readonly identity: QueryIdentity;
  readonly sort: readonly SortKey[];
};

function decodeChain(limit: number, text: string, { identity, sort }: OrderedQuery): Decoded<Paging> {
  if (text === '')
    return { ok: true, value: limit === 0 ? { kind: 'all' } : { kind: 'chain', limit, token: undefined } };
  const decoded = decodeToken(text, identity);
  if (!decoded.ok && decoded.problem === 'expired') {
    return {
      ok: false,
      problem: problem(
        'expired',
        'continue: the indexes of the type have changed since the token was created; list again from the start',
      ),
    };
  }
  if (!decoded.ok || decoded.token.after.keys.length !== sort.length)
    return refused('continue: the value is not a token of this query');
  return { ok: true, value: { kind: 'chain', limit, token: decoded.token } };
}

function windowOf(paging: Paging): Window {
  if (paging.kind !== 'chain') return paging;
  return {
    kind: 'after',
    limit: paging.limit === 0 ? Number.MAX_SAFE_INTEGER : paging.limit,
    after: paging.token?.after,
  };
}

export function countOf(parameters: URLSearchParams, name: string): Decoded<number | undefined> {
  const text = parameters.get(name) ?? '';
  if (text === '') return { ok: true, value: undefined };
  const value = Number(text);
  if (!/^\d{1,16}$/u.test(text) || !Number.isSafeInteger(value))
    return refused(`${name}: must be a whole number >= 0, is ${shown(text)}`);
  return { ok: true, value };
}

function refused(detail: string): ProblemResult {
  return { ok: false, problem: problem('bad-request', detail) };
}

/** Returns the refusal of an unsupported parameter or value, with status 422 as in Kubernetes. */
export function unsupported(parameter: string, detail: string): Problem {
  return problem('invalid', `${parameter}: ${detail}`, { violations: [{ pointer: `/${parameter}`, detail }] });
}

export function shown(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);
}
