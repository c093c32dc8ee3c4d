import type { EventLog, LogPosition } from './log.ts';

/** The position of the last event of any object after a position, or that position itself, by one backward read. */
export async function lastObject(log: Pick<EventLog, 'readAllBackward'>, after: LogPosition): Promise<LogPosition> {
  for await (const [last] of log.readAllBackward({ after, categories: ['object'] }))
    if (last !== undefined) return last.position;
  return after;
}
