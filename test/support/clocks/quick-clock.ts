import { systemClock } from '../../../src/base/clock.ts';
import type { Clock } from '../../../src/base/clock.ts';

/**
 * The system's clock, `times` as fast, so that a test waits less for pauses and time limits of seconds. Its timers keep
 * the process alive.
 */
export function quickClock(times = 10): Clock {
  const start = systemClock.now();
  return {
    now: () => start + (systemClock.now() - start) * times,
    monotonic: () => systemClock.monotonic() * times,
    after: (delayMs, task) => {
      const timer = setTimeout(task, delayMs / times);
      return {
        cancel: () => {
          clearTimeout(timer);
        },
      };
    },
  };
}
