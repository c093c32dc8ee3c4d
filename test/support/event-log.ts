import { systemClock } from '../../src/base/clock.ts';
import { logStart, type EventLog, type RecordedEvent } from '../../src/log/log.ts';
import { openLog } from '../../src/open-log.ts';

/** The log that EVENT_LOG names, past every node, by the adapter that they use. */
export async function withLog<T>(url: string, task: (log: EventLog) => Promise<T>): Promise<T> {
  const options = { clock: systemClock, onFatal: (error: Error) => { throw error; }, onState: () => undefined };
  const { log } = await openLog({ eventLog: { kind: 'eventstore', url }, dataDir: '' }, options);
  try {
    return await task(log);
  } finally {
    await log.close();
  }
}

export async function eventsOf(url: string): Promise<readonly RecordedEvent[]> {
  return withLog(url, async (log) => {
    const events: RecordedEvent[] = [];
    for await (const batch of log.readAll({ after: logStart })) events.push(...batch);
    return events;
  });
}
