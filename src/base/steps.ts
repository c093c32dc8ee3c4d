import type { Slices } from './slices.ts';

/** A long synchronous computation that returns its result. Other work may come between at each `yield`. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Rounds of a cheap loop in one step: few enough that a step takes a fraction of a slice. */
export const strideMax = 1_024;

type Work = (from: number, to: number) => unknown;

/** Calls `work` with each part of the numbers from 0 up to `length`, until it returns false. Yields between two parts. */
export function* inStrides(length: number, work: Work): Steps<undefined> {
  for (let from = 0; from < length; from += strideMax) {
    if (from > 0) yield;
    if (work(from, Math.min(length, from + strideMax)) === false) return;
  }
}

/** Runs the steps to their end over as many turns of the event loop as they take. */
export async function inSlices<T>(steps: Steps<T>, slices: Pick<Slices, 'isOver' | 'next'>): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (slices.isOver()) await slices.next();
  }
}

/** Runs the steps to their end in this turn: for callers that know them to be few. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
