import { eventSchema, type DomainEvent, type EventMetadata } from '../../src/command/event.ts';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { copyLog, type CopiedLog } from '../../src/log-tools/log-copy.ts';
import type { LogCopyOptions } from '../../src/log-tools/log-copy-context.ts';
import { encodeEvent } from '../../src/log/event-codec.ts';
import { platformStream } from '../../src/log/founded-log.ts';
import {
  logStart,
  streamName,
  streamRevision,
  type EventLog,
  type ProposedEvent,
  type RecordedEvent,
} from '../../src/log/log.ts';
import { idOf } from '../support/id-of.ts';
import { appended, collect, plain } from '../support/memory/log-events.ts';

export const sourceId = idOf('the source');
export const domain = 'svc.run';

export function platformEvent(event: DomainEvent, id = idOf(JSON.stringify(event))): ProposedEvent {
  const metadata: EventMetadata = {
    actor: 'system:log',
    verb: 'create',
    requestId: 'r',
    time: '2026-01-01T00:00:00.000Z',
    schema: eventSchema,
    $correlationId: 'r',
  };
  return encodeEvent(id, event, metadata);
}

export const founding: DomainEvent = { type: 'EpochStarted', logId: sourceId, domain, epoch: 0, reason: 'founded' };

/** What a stream's next event is appended as: its name is drawn from few, so that streams interleave. */
export type Written = { readonly stream: string; readonly bytes: number };

/**
 * A log as a server leaves it behind: founded, with objects, claims, secrets and a lease that was renewed now and then.
 */
export async function writeSource(log: EventLog, written: readonly Written[]): Promise<readonly RecordedEvent[]> {
  appended(await log.append(platformStream, [platformEvent(founding)], 'absent'));
  const next = new Map<string, number>();
  let underway: Promise<unknown>[] = [];
  for (const [index, { stream, bytes }] of written.entries()) {
    const name = streamName(stream);
    const revision = next.get(name) ?? 0;
    const data = Buffer.from(JSON.stringify({ place: index, filling: 'é'.repeat(bytes) }));
    const event = {
      id: idOf(`${stream}/${revision.toString()}`),
      type: `Written${(index % 3).toString()}`,
      data,
      metadata: Buffer.from(`{"actor":"test","place":${index.toString()}}`),
    };
    // As a deletion is: a copy may be cut off between the two.
    const isPair = stream.startsWith('object:') && index % 4 === 1;
    const events = isPair ? [event, { ...event, id: idOf(`${stream}/${(revision + 1).toString()}`) }] : [event];
    underway.push(log.append(name, events, revision === 0 ? 'absent' : streamRevision(revision - 1)).then(appended));
    next.set(name, revision + events.length);
    if (underway.length < 500) continue;
    await Promise.all(underway);
    underway = [];
  }
  await Promise.all(underway);
  return copiedOf(log);
}

export function writtenOf(count: number): readonly Written[] {
  const streams = [
    'object:widgets/a',
    'object:widgets/b',
    'claim:widgets/x',
    'secret:a',
    'lease:reconcilers',
    'object:widgets/c',
  ];
  return Array.from({ length: count }, (_, index) => ({
    stream: streams[(index * 7 + Math.floor(index / 5)) % streams.length] ?? '',
    bytes: index % 40,
  }));
}

/** What of a log a copy must hold, in the log's order. */
export async function copiedOf(log: EventLog): Promise<readonly RecordedEvent[]> {
  return (await collect(log.readAll({ after: logStart }))).filter(
    ({ stream }) => !/^(?:platform:log$|lease:)/u.test(stream),
  );
}

/** Without the events that each log has of its own. */
export function comparable(events: readonly RecordedEvent[]): readonly unknown[] {
  return events.map((event) => ({
    ...(plain(event) as Record<string, unknown>),
    position: undefined,
    endsAppend: undefined,
  }));
}

export type CopyRun = { readonly copied: CopiedLog; readonly lines: readonly string[] };

export async function runCopy(
  source: EventLog,
  openTarget: () => Promise<EventLog>,
  options: Partial<LogCopyOptions> & { readonly clock?: Clock } = {},
): Promise<CopyRun> {
  const lines: string[] = [];
  let ids = 0;
  const uuid = (): string => idOf(`drawn ${(ids += 1).toString()}`);
  const copied = await copyLog({
    source,
    openTarget,
    inFlightMax: 16,
    clock: systemClock,
    uuid,
    print: (line) => {
      lines.push(line);
    },
    ...options,
  });
  return { copied, lines };
}
