import { delay, type Clock } from '../base/clock.ts';
import { writeAttemptsMax } from '../limits/writes.ts';
import { LogCorruptError, type EventLog } from '../log/log.ts';

/** The log as writers ask it. */
export type WriterLog = Pick<EventLog, 'append' | 'readLast'>;

/** A read of the log that failed: 503, as when it takes no append. */
export class LogUnreadableError extends Error {}

/**
 * An unknown outcome is settled by the same event at the same revision, which the log takes at most once; a failed read is told
 * apart from a bug.
 */
export function settlingLog(log: EventLog, clock: Clock): WriterLog {
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
