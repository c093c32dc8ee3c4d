import vm from 'node:vm';

import type { Slices } from '../../base/slices.ts';
import type { Steps } from '../../base/steps.ts';
import { isObject } from '../../base/guards.ts';
import { migrationStepMsMax } from '../../limits/plugins.ts';
import type { LimitedRuns } from '../api/object-checks.ts';

/** Code that was interrupted because it did not return in time. */
export class UnreturnedError extends Error {}

/** The global variables of the script. Each call replaces `run`. */
const limited: { run: () => void } = { run: () => undefined };
const context = vm.createContext(limited);
const script = new vm.Script('run()');

/**
 * Runs the steps to the end, over as many turns of the event loop as they need. Rejects with an `UnreturnedError` if a
 * turn takes longer than `limitMs`, because a step calls code that does not return. Only V8 can interrupt such code.
 */
export async function inLimitedSlices<T>(
  steps: Steps<T>,
  slices: Pick<Slices, 'isOver' | 'next'>,
  limitMs: number,
): Promise<T> {
  for (;;) {
    const step = withinTime(() => runSlice(steps, slices), limitMs);
    if (step.done === true) return step.value;
    await slices.next();
  }
}

/**
 * Runs steps until the slice is over. A time limit costs a thread for each call into `vm`, so one call runs a whole
 * slice.
 */
function runSlice<T>(steps: Steps<T>, slices: Pick<Slices, 'isOver'>): IteratorResult<undefined, T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true || slices.isOver()) return step;
  }
}

/** Calls `call`. Throws an `UnreturnedError` if the call takes longer than `limitMs`. */
export function withinTime<T>(call: () => T, limitMs: number): T {
  let result: { readonly value: T } | undefined;
  limited.run = () => {
    result = { value: call() };
  };
  try {
    script.runInContext(context, { timeout: limitMs });
  } catch (error) {
    if (isObject(error) && error['code'] === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw new UnreturnedError();
    throw error;
  } finally {
    limited.run = () => undefined;
  }
  if (result === undefined) throw new UnreturnedError();
  return result.value;
}

/** Interrupts code of plugins in the checks of stored objects. */
export const limitedRuns: LimitedRuns = {
  limitMs: migrationStepMsMax,
  inSlices: async (steps, slices) => returns(async () => inLimitedSlices(steps, slices, migrationStepMsMax)),
  call: (run) => {
    try {
      withinTime(run, migrationStepMsMax);
      return true;
    } catch (error) {
      if (error instanceof UnreturnedError) return false;
      throw error;
    }
  },
};

async function returns(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    if (error instanceof UnreturnedError) return false;
    throw error;
  }
}
