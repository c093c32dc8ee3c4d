import { UnreadableHistoryError, type HistoryLog } from '../../audit/event-pairs.ts';
import { readHistory, type HistoryPage } from '../../audit/object-history.ts';
import { notFound } from '../../command/refuse.ts';
import { streamName, streamRevision, type LogIdentity, type StreamRevision } from '../../log/log.ts';
import { lastRevision, type ObjectReader } from '../../read/objects.ts';
import type { SnapshotSlot } from '../../read/snapshot-slots.ts';
import type { ResourceLocation } from '../../resource/query/request-path.ts';
import { isTypeKey, type TypeKey } from '../../resource/type/index-entry.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { groupVersionOf, typeKeyOf } from '../../resource/type/type-declaration.ts';
import { refusal, takenOver, type Answer } from '../answer.ts';
import { disconnectSignalOf, type Exchange } from '../exchange.ts';
import { problem } from '../problem.ts';
import { readerOf, tooManyReading } from './collection.ts';
import { shown } from './decode-list-query.ts';
import { decodeHistoryQuery, type HistoryQuery } from './decode-history-query.ts';
import { entryPage, paceOf } from '../audit/entry-page.ts';
import { encodeHistoryToken, type HistoryToken } from './history-token.ts';
import type { ResourceReader } from './item.ts';
import { staleness } from './await-position.ts';

export type HistoryPorts = {
  readonly reader: ResourceReader & Pick<ObjectReader, 'head'>;
  readonly log: HistoryLog;
  readonly identity: () => Pick<LogIdentity, 'logId'>;
};

/** An object that a path names. `apiVersion`, `plural` and `name` are from the path. */
export type HistoryTarget = {
  readonly key: TypeKey;
  readonly group: string;
  readonly plural: string;
  readonly apiVersion: string;
  readonly name: string;
  /** The type in the version of the path; undefined if the type is not registered. */
  readonly type?: ResourceType | undefined;
};

/** Returns the object that a path names; undefined if the path cannot belong to an object. */
export function historyTargetOf({ group, version, resource, name }: ResourceLocation): HistoryTarget | undefined {
  const key = typeKeyOf(group, resource);
  if (name === undefined || !isTypeKey(key)) return undefined;
  return { key, group, plural: resource, apiVersion: groupVersionOf(group, version), name };
}

/** Handles GET of `/{name}/history`: returns the events of all objects that had the name, with their changes. */
export async function answerHistory(exchange: Exchange, target: HistoryTarget, ports: HistoryPorts): Promise<Answer> {
  const { key, name } = target;
  const decoded = decodeHistoryQuery(exchange.query, [ports.identity().logId, key, name]);
  if (!decoded.ok) return refusal(decoded.problem);
  const query = decoded.value;
  const { reader } = ports;
  const stale = await olderThanAsked(exchange, query, reader);
  if (stale !== undefined) return stale;
  const begin = beginningOf(query, lastRevision(reader.head(key, name)), reader);
  if (begin === 'absent') return refusal(problem('not-found', notFound(target, name)));
  if (begin === 'foreign') return refusal(problem('bad-request', 'continue: the value is not a token of this query'));
  const disconnected = disconnectSignalOf(exchange.res);
  const slot = await reader.snapshots.take(readerOf(exchange), disconnected);
  if (slot === undefined) return disconnected.aborted ? takenOver : refusal(tooManyReading);
  const answer = await readPage({ exchange, target, query, begin, disconnected }, ports, slot).catch(
    (error: unknown) => {
      if (disconnected.aborted) return takenOver;
      if (!(error instanceof UnreadableHistoryError)) throw error;
      return refusal(problem('unavailable', 'the event log cannot be read now', { retryAfterSeconds: 1 }));
    },
  );
  if (answer.kind !== 'stream') slot.release();
  return answer;
}

type Read = {
  readonly exchange: Exchange;
  readonly target: HistoryTarget;
  readonly query: HistoryQuery;
  readonly begin: HistoryToken;
  readonly disconnected: AbortSignal;
};

async function readPage(read: Read, { reader, log }: HistoryPorts, slot: SnapshotSlot): Promise<Answer> {
  const { exchange, target, query, begin, disconnected } = read;
  const stream = streamName(`object:${target.key}/${target.name}`);
  const page = await readHistory(
    log,
    { ...query, ...begin, stream, type: target.type },
    paceOf(exchange, reader, disconnected),
  );
  const isUnknown = query.token === undefined && page.entries.length === 0 && page.next === undefined;
  return isUnknown ? refusal(problem('not-found', absentDetail(target, query.uid))) : answered(read, page, slot);
}

/**
 * Waits until this node has folded the position of the previous page, and the position that the request requires.
 * Returns undefined on success.
 */
async function olderThanAsked(
  exchange: Exchange,
  { token, freshness }: HistoryQuery,
  reader: ResourceReader,
): Promise<Answer | undefined> {
  const begun = token?.position;
  const stale =
    begun === undefined ? undefined : await staleness({ notBefore: begun, match: 'not-older' }, exchange, reader);
  return stale ?? staleness(freshness, exchange, reader);
}

/**
 * Returns the beginning of a page; `absent` if no object ever had the name; `foreign` if the token belongs to another
 * stream. A chain of pages contains only events that existed at the first page.
 */
function beginningOf(
  { token, order }: HistoryQuery,
  folded: StreamRevision | undefined,
  reader: Pick<ObjectReader, 'position'>,
): HistoryToken | 'absent' | 'foreign' {
  if (folded === undefined) return 'absent';
  if (token !== undefined) return token.through > folded ? 'foreign' : token;
  return {
    position: reader.position(),
    through: folded,
    next: order === 'oldest' ? streamRevision(0) : folded,
  };
}

function absentDetail(target: HistoryTarget, uid: string | undefined): string {
  const detail = notFound(target, target.name);
  return uid === undefined ? detail : `${detail} with the uid ${shown(uid)}`;
}

function answered({ target, query, begin }: Read, page: HistoryPage, slot: SnapshotSlot): Answer {
  const { position, through } = begin;
  const resourceVersion = position.toString();
  const metadata =
    page.next === undefined
      ? { resourceVersion }
      : { resourceVersion, continue: encodeHistoryToken({ position, through, next: page.next }, query.identity) };
  const envelope = JSON.stringify({ apiVersion: target.apiVersion, kind: 'ObjectHistory', metadata });
  return entryPage({ envelope }, page.entries, slot);
}
