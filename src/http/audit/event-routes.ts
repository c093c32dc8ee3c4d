import { EventSelection, ofTypes } from '../../audit/stream/event-selection.ts';
import { shownChange, shownEvent, type EventParts } from '../../audit/stream/event-item.ts';
import {
  readEvents,
  UnreadableEventsError,
  type EventsPage,
  type EventsSource,
} from '../../audit/stream/read-events.ts';
import type { Pace } from '../../audit/object-history.ts';
import { inSlices } from '../../base/steps.ts';
import {
  isOfEpoch,
  logPosition,
  logStart,
  streamRevision,
  type EventLog,
  type LogIdentity,
  type LogPosition,
  type RecordedEvent,
} from '../../log/log.ts';
import type { AuditProgress } from '../../read/audit-progress.ts';
import type { LogTimes } from '../../read/versions.ts';
import type { SnapshotSlot } from '../../read/snapshot-slots.ts';
import { bytesAnswer, refusal, takenOver, type Answer } from '../answer.ts';
import { disconnectSignalOf, type Exchange } from '../exchange.ts';
import type { PlatformRoute } from '../fixed-routes.ts';
import { problem } from '../problem.ts';
import type { Representation } from '../representation/representation.ts';
import { requestedForm } from '../representation/requested-form.ts';
import { awaitAudit, staleness } from '../resources/await-position.ts';
import { readerOf, tooManyReading } from '../resources/collection.ts';
import { isPosition } from '../resources/decode-list-query.ts';
import { entryPage, paceOf } from './entry-page.ts';
import type { ResourceReader } from '../resources/item.ts';
import type { WatchEndpoints } from '../watch/watching.ts';
import { decodeEventsQuery, type EventsQuery } from './decode-events-query.ts';
import { resolveRange, type PositionRange } from './event-range.ts';
import { scopeOf, type EventScopes } from './event-scope.ts';
import { encodeEventsToken } from './events-token.ts';

export type EventRoutesDependencies = EventScopes & {
  readonly source: EventsSource & { readonly log: Pick<EventLog, 'readStream'> };
  readonly audit: AuditProgress;
  readonly reader: ResourceReader;
  readonly identity: () => LogIdentity;
  readonly times: LogTimes;
  readonly watches: WatchEndpoints;
};

/** Creates the routes for the events of the log: a list, which also serves watches, and a single event. */
export function eventRoutes(dependencies: EventRoutesDependencies): readonly PlatformRoute[] {
  const { group, version, plural, singular, kind, path } = dependencies.type;
  const verbs = ['get', 'list', 'watch'];
  return [
    {
      method: 'GET',
      path,
      resource: { group, version, plural, singular, kind, verbs, subresources: [] },
      watched: { type: dependencies.type, endpoints: dependencies.watches },
      route: async (_params, exchange) => list(exchange, dependencies),
    },
    {
      method: 'GET',
      path: `${path}/{name}`,
      route: async ({ name = '' }, exchange) => get(exchange, name, dependencies),
    },
  ];
}

async function list(exchange: Exchange, dependencies: EventRoutesDependencies): Promise<Answer> {
  const { reader, audit, identity, type } = dependencies;
  const decoded = decodeEventsQuery(exchange.query, identity());
  if (!decoded.ok) return refusal(decoded.problem);
  const query = decoded.value;
  const requested = requestedForm(exchange, type);
  if (!requested.ok) return refusal(requested.problem);
  const stale = await olderThanAsked(exchange, query, dependencies);
  if (stale !== undefined) return stale;
  const { token = { head: audit.position(), from: undefined } } = query;
  const range = rangeOf(exchange, query, { ...dependencies, head: token.head });
  if (!range.ok) return refusal(range.problem);
  const disconnected = disconnectSignalOf(exchange.res);
  const slot = await reader.snapshots.take(readerOf(exchange), disconnected);
  if (slot === undefined) return disconnected.aborted ? takenOver : refusal(tooManyReading);
  const asked = {
    query,
    range: range.value,
    head: token.head,
    from: token.from,
    form: requested.form,
  };
  const answer = await page({ exchange, disconnected, ...asked }, dependencies, slot).catch((error: unknown) => {
    slot.release();
    if (disconnected.aborted) return takenOver;
    if (error instanceof UnreadableEventsError) return refusal(unreadable);
    throw error;
  });
  if (answer.kind !== 'stream') slot.release();
  return answer;
}

const unreadable = problem('unavailable', 'the event log cannot be read now', { retryAfterSeconds: 1 });

/**
 * Waits until the audit indexes contain the positions of the read models, of the previous page, and of the request.
 * Returns undefined on success.
 */
async function olderThanAsked(
  exchange: Exchange,
  { token, freshness }: EventsQuery,
  { reader, audit }: EventRoutesDependencies,
): Promise<Answer | undefined> {
  const refused = await awaitAudit(audit, reader.position(), exchange);
  if (refused !== undefined) return refused;
  const progress = { position: () => audit.position(), contains: audit.reached.bind(audit) };
  const indexes = { ...progress, isKnown: (position: LogPosition) => reader.isKnown(position) };
  const seen = token === undefined ? freshness : ({ notBefore: token.head, match: 'not-older' } as const);
  return (await staleness(seen, exchange, indexes)) ?? staleness(freshness, exchange, indexes);
}

type Asked = {
  readonly exchange: Exchange;
  readonly query: EventsQuery;
  readonly range: PositionRange;
  readonly head: LogPosition;
  /** The position at which a later page begins; undefined for the first page. */
  readonly from: LogPosition | undefined;
  readonly form: Representation | undefined;
  readonly disconnected: AbortSignal;
};

function rangeOf(
  { clock }: Exchange,
  { range }: EventsQuery,
  { head, identity, times }: EventRoutesDependencies & { readonly head: LogPosition },
): ReturnType<typeof resolveRange> {
  const { epoch } = identity();
  const isKnown = (position: LogPosition): boolean => isOfEpoch(position, epoch);
  const positionAt = (timeMs: number): LogPosition => times.positionAt(timeMs, head) ?? logStart;
  return resolveRange(range, {
    first: times.first() ?? logStart,
    head,
    now: clock.now(),
    isKnown,
    positionAt,
  });
}

async function page(asked: Asked, dependencies: EventRoutesDependencies, slot: SnapshotSlot): Promise<Answer> {
  const { exchange, query, range, head, disconnected, form } = asked;
  const { type, source, reader } = dependencies;
  const pace = paceOf(exchange, reader, disconnected);
  const { order } = query;
  const [begin, until] = order === 'oldest' ? [range.first, range.last] : [range.last, range.first];
  const from = asked.from ?? begin;
  const selection = narrowed(query.selection, scopeOf(exchange.subject, dependencies));
  const show = async (event: RecordedEvent): Promise<Buffer> => shown(event, query.parts, { ...dependencies, pace });
  const request = { order, from, until, head, limit: query.limit, selection, show };
  const { items, next } = await readEvents(source, request, pace);
  const metadata = metadataOf({ head, next }, query);
  const { apiVersion, kind } = form?.listKind ?? { apiVersion: type.apiVersion, kind: `${type.kind}List` };
  const envelope = JSON.stringify({ apiVersion, kind, metadata });
  if (form === undefined) return entryPage({ envelope }, items, slot);
  const rows: Buffer[] = [];
  for (const item of items) {
    rows.push(form.items(item, exchange.clock.now()).bytes);
    if (pace.isOver()) await pace.next();
  }
  return entryPage({ envelope, opening: form.listOpening }, rows, slot);
}

type PageEnd = {
  readonly head: LogPosition;
  readonly next: EventsPage['next'];
};

function metadataOf({ head, next }: PageEnd, { identity }: EventsQuery): Readonly<Record<string, string>> {
  const resourceVersion = head.toString();
  if (next === undefined) return { resourceVersion };
  return { resourceVersion, continue: encodeEventsToken({ head, from: next }, identity) };
}

/** Restricts a selection to events of `types`. Undefined means no restriction. */
function narrowed(selection: EventSelection, types: readonly string[] | undefined): EventSelection {
  return types === undefined ? selection : new EventSelection([...selection.requirements, ofTypes(types)]);
}

async function shown(
  event: RecordedEvent,
  parts: EventParts,
  { type: { apiVersion }, source, pace }: EventRoutesDependencies & { readonly pace: Pace },
): Promise<Buffer> {
  if (!parts.change || !event.stream.startsWith('object:')) return shownEvent(event, apiVersion, parts);
  const previous = event.revision === 0 ? undefined : await previousOf(event, source);
  return inSlices(shownChange({ event, previous }, apiVersion, parts), pace);
}

async function previousOf(
  { stream, revision }: RecordedEvent,
  { log }: EventRoutesDependencies['source'],
): Promise<RecordedEvent | undefined> {
  const from = streamRevision(revision - 1);
  const [previous] = await log.readStream(stream, { from, limit: 1 }).catch((cause: unknown) => {
    throw new UnreadableEventsError({ cause });
  });
  if (previous?.revision !== from) throw new UnreadableEventsError();
  return previous;
}

/** Returns a single event by its position. The caller has the right `get` on events, and may thus read all events. */
async function get(exchange: Exchange, name: string, dependencies: EventRoutesDependencies): Promise<Answer> {
  const { type, source, audit, reader } = dependencies;
  const refused = await awaitAudit(audit, reader.position(), exchange);
  if (refused !== undefined) return refused;
  const requested = requestedForm(exchange, type);
  if (!requested.ok) return refusal(requested.problem);
  const position = isPosition(name) ? logPosition(BigInt(name)) : logStart;
  if (!reader.isKnown(position)) {
    const detail = `${type.plural}.${type.group} ${position.toString()} belongs to another epoch of the event log`;
    return refusal(problem('expired', detail));
  }
  // A log may refuse to read a position that it has not issued, so the index is checked first.
  const mayBe = position > logStart && position <= audit.position();
  const isIssued = mayBe && source.index.before(logPosition(position + 1n)) === position;
  const event = isIssued ? await source.log.readAt(position).catch(() => undefined) : undefined;
  if (event === undefined) {
    if (isIssued) return refusal(unreadable);
    return refusal(problem('not-found', `${type.plural}.${type.group} ${JSON.stringify(name)} not found`));
  }
  const bytes = shownEvent(event, type.apiVersion, { object: true, change: false, data: true });
  return bytesAnswer(requested.form === undefined ? bytes : requested.form.object(bytes, exchange.clock.now()));
}
