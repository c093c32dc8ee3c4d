import type { HistoryRange } from '../../audit/event-pairs.ts';
import { historyEntriesDefault, historyEntriesMax } from '../../limits/audit.ts';
import { problem, type Problem, type ProblemResult } from '../problem.ts';
import { checkParameterNames } from '../query-names.ts';
import { countOf, decodeFreshness, shown, unsupported, type Decoded, type Freshness } from './decode-list-query.ts';
import { decodeHistoryToken, type HistoryIdentity, type HistoryToken } from './history-token.ts';

export type HistoryQuery = {
  readonly order: HistoryRange['order'];
  readonly uid: string | undefined;
  readonly withObjects: boolean;
  readonly limit: number;
  readonly freshness: Freshness;
  /** The end of the previous page; undefined for the first page. */
  readonly token: HistoryToken | undefined;
  /** The identity of the query, to which the token of the next page is bound. */
  readonly identity: HistoryIdentity;
};

/** Parameters of lists that a history refuses. Ignoring these parameters would return a wrong result. */
const ofListsOnly = ['labelSelector', 'fieldSelector', 'page', 'size', 'watch'];
const ownNames = ['uid', 'include'];

/** Decodes the parameters of an object's history. `of` contains the id of the log, the type and the name. */
export function decodeHistoryQuery(parameters: URLSearchParams, of: readonly string[]): Decoded<HistoryQuery> {
  const misnamed = checkParameterNames(parameters, { own: ownNames }) ?? ownProblem(parameters);
  if (misnamed !== undefined) return { ok: false, problem: misnamed };
  const limit = countOf(parameters, 'limit');
  if (!limit.ok) return limit;
  const freshness = decodeFreshness(parameters);
  if (!freshness.ok) return freshness;
  const order = orderOf(parameters.getAll('sort'));
  if (order === undefined) return refused('sort: must be "position", "position,asc" or "position,desc"');
  const uid = parameters.get('uid') ?? '';
  const identity = [...of, order, uid];
  const token = tokenOf(parameters, identity);
  if (token === 'foreign') return refused('continue: the value is not a token of this query');
  const asked = {
    order,
    uid: uid === '' ? undefined : uid,
    withObjects: parameters.has('include', 'object'),
    limit: entriesOf(limit.value),
  };
  return { ok: true, value: { ...asked, freshness: freshness.value, token, identity } };
}

function entriesOf(limit = 0): number {
  return Math.min(limit === 0 ? historyEntriesDefault : limit, historyEntriesMax);
}

function tokenOf(parameters: URLSearchParams, identity: HistoryIdentity): HistoryToken | 'foreign' | undefined {
  const text = parameters.get('continue') ?? '';
  return text === '' ? undefined : (decodeHistoryToken(text, identity) ?? 'foreign');
}

function orderOf(sort: readonly string[]): HistoryRange['order'] | undefined {
  const [text = '', ...more] = sort;
  if (more.length > 0) return undefined;
  if (text === '' || text === 'position' || text === 'position,asc') return 'oldest';
  return text === 'position,desc' ? 'newest' : undefined;
}

function ownProblem(parameters: URLSearchParams): Problem | undefined {
  const include = parameters.getAll('include').find((value) => value !== '' && value !== 'object');
  if (include !== undefined) return unsupported('include', `must be "object", is ${shown(include)}`);
  for (const given of parameters.keys()) {
    if (ofListsOnly.includes(given)) return problem('bad-request', `${given}: is not a parameter of a history`);
  }
  return undefined;
}

function refused(detail: string): ProblemResult {
  return { ok: false, problem: problem('bad-request', detail) };
}
