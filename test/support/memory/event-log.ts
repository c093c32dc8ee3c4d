import { systemClock } from '../../../src/base/clock.ts';
import { eventStorePrefixDefault } from '../../../src/config/eventstore-prefix.ts';
import { logStart, type EventLog, type RecordedEvent } from '../../../src/log/log.ts';
import { openLog } from '../../../src/server/open-log.ts';

/** The address of an EventStoreDB, and the prefix of the stream names of the log. */
export type LogAt = { readonly url: string; readonly prefix?: string };

/** Returns the settings of the log as a server's environment has them. */
export function logSettings({ url, prefix = eventStorePrefixDefault }: LogAt): {
  readonly EVENT_LOG: string;
  readonly EVENTSTORE_PREFIX: string;
} {
  return { EVENT_LOG: url, EVENTSTORE_PREFIX: prefix };
}

/** Opens the log with the adapter that the nodes use, but without a node. */
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
