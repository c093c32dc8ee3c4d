import type { Clock } from '../../src/base/clock.ts';
import type { WriterLog } from '../../src/write/retrying-log.ts';

/** Resolves at a point in time that a random schedule determines. */
export type Wait = (label: string) => Promise<void>;

/**
 * A clock that advances only when a timer fires, and then by `extraMs` more than the requested delay. So slow writers
 * are fenced off as well.
 */
export function drawnClock(wait: Wait, { extraMs }: { readonly extraMs: number }): Clock {
  let now = 0;
  return {
    now: () => now,
    monotonic: () => now,
    after: (delayMs, task) => {
      let isCancelled = false;
      void wait('timer').then(() => {
        if (isCancelled) return;
        now += delayMs + extraMs;
        task();
      });
      return {
        cancel: () => {
          isCancelled = true;
        },
      };
    },
  };
}

/** A log for writers in which a random schedule delays each call and each result. `check` runs after every append. */
export function drawnLog(log: WriterLog, wait: Wait, check: () => Promise<void>): WriterLog {
  return {
    append: async (...call) => {
      await wait('append sent');
      const outcome = await log.append(...call);
      await check();
      await wait('append answered');
      return outcome;
    },
    readLast: async (stream) => {
      await wait('read sent');
      const last = await log.readLast(stream);
      await wait('read answered');
      return last;
    },
  };
}
