import type { EventParts } from '../../audit/stream/event-item.ts';
import { EventSelection } from '../../audit/stream/event-selection.ts';
import { selectableFields } from '../../audit/stream/event-type.ts';
import { auditEventsDefault, auditEventsMax } from '../../limits/audit.ts';
import type { LogIdentity } from '../../log/log.ts';
import type { FieldRequirement } from '../../resource/query/list-query.ts';
import { parseFieldSelector } from '../../resource/query/selector.ts';
import { bindFields } from '../../resource/query/bind-fields.ts';
import { problem, type Problem, type ProblemResult } from '../problem.ts';
import { checkParameterNames } from '../query-names.ts';
import {
  countOf,
  decodeFreshness,
  shown,
  unsupported,
  type Decoded,
  type Freshness,
} from '../resources/decode-list-query.ts';
import { decodeRange, type AskedRange } from './event-range.ts';
import { decodeEventsToken, type EventsIdentity, type EventsToken } from './events-token.ts';

export type EventsQuery = {
  readonly order: 'oldest' | 'newest';
  readonly selection: EventSelection;
  readonly range: AskedRange;
  readonly parts: EventParts;
  readonly limit: number;
  readonly freshness: Freshness;
  /** The continue token of the previous page; undefined for the first page. */
  readonly token: EventsToken | undefined;
  /** The log, epoch and parameters for which the token of the next page is valid. */
  readonly identity: EventsIdentity;
};

/** Parameters of lists that are refused for events. Ignoring these parameters would return a wrong result. */
const ofObjectsOnly = ['page', 'size', 'at'];
const partNames = ['object', 'change', 'data'] as const;

export function decodeEventsQuery(parameters: URLSearchParams, log: LogIdentity): Decoded<EventsQuery> {
  const misnamed = checkParameterNames(parameters, { own: ['include'], isStrict: true }) ?? ownProblem(parameters);
  if (misnamed !== undefined) return { ok: false, problem: misnamed };
  const selected = decodeEventSelector(parameters);
  if (!selected.ok) return selected;
  const range = decodeRange(selected.value.places);
  if (!range.ok) return range;
  const limit = countOf(parameters, 'limit');
  if (!limit.ok) return limit;
  const freshness = decodeFreshness(parameters);
  if (!freshness.ok) return freshness;
  if (freshness.value.match === 'exact')
    return { ok: false, problem: unsupported('resourceVersionMatch', 'must be NotOlderThan for events') };
  const order = orderOf(parameters.getAll('sort'));
  if (order === undefined) return refused('sort: must be "position", "position,asc" or "position,desc"');
  const parts = decodeParts(parameters);
  if (!parts.ok) return parts;
  const texts = parameters.getAll('fieldSelector');
  const identity = {
    epoch: log.epoch,
    query: [log.logId, order, ...partNames.filter((name) => parts.value[name]), '', ...texts],
  };
  const token = decodeToken(parameters, identity);
  if (!token.ok) return token;
  const asked = {
    order,
    parts: parts.value,
    limit: entriesOf(limit.value),
    range: range.value,
    token: token.value,
  };
  return {
    ok: true,
    value: { ...asked, selection: selected.value.selection, freshness: freshness.value, identity },
  };
}

export type EventSelector = {
  readonly selection: EventSelection;
  /** The conditions on `time` and `position`. */
  readonly places: readonly FieldRequirement[];
};

export function decodeEventSelector(parameters: URLSearchParams): Decoded<EventSelector> {
  if (parameters.getAll('labelSelector').some((text) => text.trim() !== ''))
    return refused('labelSelector: events have no labels');
  const fields = parseFieldSelector(parameters.getAll('fieldSelector'));
  if (!fields.ok) return refused(fields.problem);
  const isPlace = ({ field }: FieldRequirement): boolean => field === 'time' || field === 'position';
  const bound = bindFields(
    fields.requirements.filter((requirement) => !isPlace(requirement)),
    selectableFields,
    'fields',
  );
  if (!bound.ok) return refused(bound.problem);
  const places = fields.requirements.filter(isPlace);
  return { ok: true, value: { selection: new EventSelection(bound.requirements), places } };
}

function entriesOf(limit = 0): number {
  return Math.min(limit === 0 ? auditEventsDefault : limit, auditEventsMax);
}

function decodeToken(parameters: URLSearchParams, identity: EventsIdentity): Decoded<EventsToken | undefined> {
  const text = parameters.get('continue') ?? '';
  if (text === '') return { ok: true, value: undefined };
  const decoded = decodeEventsToken(text, identity);
  if (decoded.ok) return { ok: true, value: decoded.token };
  if (decoded.problem === 'malformed') return refused('continue: the value is not a token of this query');
  const detail = 'continue: the token is from an earlier epoch of the event log; list again from the start';
  return { ok: false, problem: problem('expired', detail) };
}

function orderOf(sort: readonly string[]): EventsQuery['order'] | undefined {
  const [text = '', ...more] = sort;
  if (more.length > 0) return undefined;
  if (text === '' || text === 'position' || text === 'position,asc') return 'oldest';
  return text === 'position,desc' ? 'newest' : undefined;
}

/** Decodes `include`. The parameter may be repeated, and each value may be a list of names separated by commas. */
function decodeParts(parameters: URLSearchParams): Decoded<EventParts> {
  const names = parameters.getAll('include').flatMap((text) => text.split(',', partNames.length + 1));
  const wanted = names.map((name) => name.trim()).filter((name) => name !== '');
  const unknown = wanted.find((name) => partNames.every((part) => part !== name));
  if (unknown !== undefined) {
    const detail = `must be object, change or data, is ${shown(unknown)}`;
    return { ok: false, problem: unsupported('include', detail) };
  }
  const [object, change, data] = partNames.map((part) => wanted.includes(part));
  return { ok: true, value: { object: object === true, change: change === true, data: data === true } };
}

function ownProblem(parameters: URLSearchParams): Problem | undefined {
  for (const given of parameters.keys()) {
    if (ofObjectsOnly.includes(given)) return problem('bad-request', `${given}: is not a parameter of lists of events`);
  }
  if (parameters.has('sendInitialEvents')) return unsupported('sendInitialEvents', 'is supported for watches only');
  return undefined;
}

function refused(detail: string): ProblemResult {
  return { ok: false, problem: problem('bad-request', detail) };
}
