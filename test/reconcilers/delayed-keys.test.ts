import { test } from 'tap';

import { DelayedKeys } from '../../reconcilers/delayed-keys.ts';
import { sliceMs } from '../../src/base/slices.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';

const count = 1_000;
const looksPerMs = 10;

test('keys that are due at once come over many timers, all of them once', (t) => {
  const clock = new FakeClock();
  const due: string[] = [];
  const perTimer: number[] = [];
  let looks = 0;
  const slow = {
    now: () => clock.now(),
    // Time passes by looking at it.
    monotonic: () => {
      looks += 1;
      return clock.monotonic() + looks / looksPerMs;
    },
    after: (delayMs: number, task: () => void) =>
      clock.after(delayMs, () => {
        const before = due.length;
        task();
        perTimer.push(due.length - before);
      }),
  };
  const keys = new DelayedKeys(slow, (key) => {
    due.push(key);
  });
  for (let index = 0; index < count; index += 1) keys.add(String(index), 5_000);
  clock.advance(20_000);
  t.equal(due.length, count);
  t.equal(new Set(due).size, count);
  t.equal(keys.size, 0);
  const most = Math.max(...perTimer);
  t.ok(most <= sliceMs * looksPerMs, `${String(most)} by one timer`);
  t.end();
});
