import type { EventLog, LogPosition } from './log.ts';

/** Returns the position of the last object event after `after`; `after` without such an event. */
export async function lastObject(log: Pick<EventLog, 'readAllBackward'>, after: LogPosition): Promise<LogPosition> {
  for await (const [last] of log.readAllBackward({ after, categories: ['object'] }))
    if (last !== undefined) return last.position;
  return after;
}
