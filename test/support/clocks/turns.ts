import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Clock } from '../../../src/base/clock.ts';

/** The number of turns of the event loop, and the longest time that passed within one turn. */
export type Turns = { readonly turns: number; readonly longestMs: number };

/** Counts turns of the event loop until `work` is settled. */
export async function turnsOf(clock: Pick<Clock, 'monotonic'>, work: Promise<unknown>): Promise<Turns> {
  let [turns, longestMs, isDone] = [0, 0, false];
  const over = work.finally(() => {
    isDone = true;
  });
  for (let before = clock.monotonic(); !isDone; before = clock.monotonic()) {
    await nextTurn();
    turns += 1;
    longestMs = Math.max(longestMs, clock.monotonic() - before);
  }
  await over;
  return { turns, longestMs };
}

/** Resolves when all callbacks have run that wait neither for a timer nor for the disk. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
}
