import { systemClock } from '../../../src/base/clock.ts';
import { eventStorePrefixDefault } from '../../../src/config/eventstore-prefix.ts';
import { logStart, type EventLog, type RecordedEvent } from '../../../src/log/log.ts';
import { openLog } from '../../../src/server/open-log.ts';

/** Where a log is on an EventStoreDB, and how the names of its streams begin there. */
export type LogAt = { readonly url: string; readonly prefix?: string };

/** As a server's environment says it. */
export function logSettings({ url, prefix = eventStorePrefixDefault }: LogAt): {
  readonly EVENT_LOG: string;
  readonly EVENTSTORE_PREFIX: string;
} {
  return { EVENT_LOG: url, EVENTSTORE_PREFIX: prefix };
}

/** The log itself, past every node, by the adapter that they use. */
export async function withLog<T>(
  { url, prefix = eventStorePrefixDefault }: LogAt,
  task: (log: EventLog) => Promise<T>,
): Promise<T> {
  const options = {
    clock: systemClock,
    onFatal: (error: Error) => {
      throw error;
    },
    onState: () => undefined,
  };
  const { log } = await openLog({ eventLog: { kind: 'eventstore', url, prefix }, dataDir: '' }, options);
  try {
    return await task(log);
  } finally {
    await log.close();
  }
}

export async function eventsOf(at: LogAt): Promise<readonly RecordedEvent[]> {
  return withLog(at, async (log) => {
    const events: RecordedEvent[] = [];
    for await (const batch of log.readAll({ after: logStart })) events.push(...batch);
    return events;
  });
}
