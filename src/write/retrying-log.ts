import { delay, type Clock } from '../base/clock.ts';
import { writeAttemptsMax } from '../limits/writes.ts';
import { LogCorruptError, type EventLog } from '../log/log.ts';

/** The part of the log that writers use. */
export type WriterLog = Pick<EventLog, 'append' | 'readLast'>;

/** A read of the log failed: 503, as for a failed append. */
export class LogUnreadableError extends Error {}

/**
 * Resolves unknown outcomes by retrying with the same event and revision, which the log accepts at most once; marks
 * failed reads, to distinguish them from bugs.
 */
export function retryingLog(log: EventLog, clock: Clock): WriterLog {
  return {
    append: async (...call) => {
      let outcome = await log.append(...call);
      for (let attempt = 1; !outcome.ok && outcome.reason === 'unknown' && attempt < writeAttemptsMax; attempt += 1) {
        await delay(clock, Math.min(2 ** attempt, 250));
        outcome = await log.append(...call);
      }
      return outcome;
    },
    readLast: async (stream) => {
      try {
        return await log.readLast(stream);
      } catch (cause) {
        if (cause instanceof LogCorruptError) throw cause;
        throw new LogUnreadableError(`${stream} cannot be read`, { cause });
      }
    },
  };
}
