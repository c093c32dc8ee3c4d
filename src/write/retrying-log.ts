import { delay, type Clock } from '../base/clock.ts';
import { writeAttemptsMax } from '../limits/writes.ts';
import { lastObject } from '../log/last-object.ts';
import { LogCorruptError, type EventLog, type LogPosition } from '../log/log.ts';

/** The part of the log that writers use. */
export type WriterLog = Pick<EventLog, 'append' | 'readLast'>;

export type RetryingLog = WriterLog & {
  /** Returns the position of the last object event after the position `after`; `after` without such an event. */
  lastObject(after: LogPosition): Promise<LogPosition>;
};

/**
 * Thrown if a read of the log fails for a reason other than corruption. The response is 503, as for a failed append.
 */
export class LogUnreadableError extends Error {}

/**
 * Wraps a log. An append with an unknown outcome is retried a limited number of times. All attempts have the same event
 * and revision, so the log stores the event at most once.
 *
 * @throws LogUnreadableError or LogCorruptError if a read fails.
 */
export function retryingLog(log: EventLog, clock: Clock): RetryingLog {
  return {
    append: async (stream, events, expected) => {
      let outcome = await log.append(stream, events, expected);
      for (let attempt = 1; !outcome.ok && outcome.reason === 'unknown' && attempt < writeAttemptsMax; attempt += 1) {
        await delay(clock, Math.min(2 ** attempt, 250));
        outcome = await log.append(stream, events, expected);
      }
      return outcome;
    },
    readLast: async (stream) => {
      try {
        return await log.readLast(stream);
      } catch (cause) {
        throw unreadable(stream, cause);
      }
    },
    lastObject: async (after) => {
      try {
        return await lastObject(log, after);
      } catch (cause) {
        throw unreadable('the end of the log', cause);
      }
    },
  };
}

function unreadable(what: string, cause: unknown): LogUnreadableError | LogCorruptError {
  return cause instanceof LogCorruptError ? cause : new LogUnreadableError(`cannot read ${what}`, { cause });
}
