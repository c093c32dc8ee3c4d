import type { Clock } from '../../src/base/clock.ts';
import type { WriterLog } from '../../src/write/retrying-log.ts';

/** Resolves when the schedule that was drawn says so. */
export type Wait = (label: string) => Promise<void>;

/**
 * Time that passes only when a timer fires, and then by `extraMs` more than asked for: writers that are merely slow get
 * fenced off, too.
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

/**
 * The log as writers see it: each call leaves and returns when the schedule says; `check` looks at what every append
 * has left.
 */
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
