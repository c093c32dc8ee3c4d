import type { Slices } from './slices.ts';

/** A long synchronous computation. Other work may run at each `yield`. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** The number of iterations of a cheap loop in one step, which takes only a fraction of a slice. */
export const strideMax = 1_024;

type Work = (from: number, to: number) => unknown;

/**
 * Calls `work` with consecutive ranges of the numbers from 0 to `length`; `to` is exclusive. Ends early if `work`
 * returns false. Yields between ranges.
 */
export function* inStrides(length: number, work: Work): Steps<undefined> {
  for (let from = 0; from < length; from += strideMax) {
    if (from > 0) yield;
    if (work(from, Math.min(length, from + strideMax)) === false) return;
  }
}

/** Runs the steps to the end, over as many turns of the event loop as they need. */
export async function inSlices<T>(steps: Steps<T>, slices: Pick<Slices, 'isOver' | 'next'>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (slices.isOver()) await slices.next();
  }
}

/** Runs the steps to the end in this turn. For a separate thread, or for few steps. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
