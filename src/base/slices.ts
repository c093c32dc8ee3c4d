import type { Clock } from './clock.ts';

/** The time in milliseconds for which a loop may occupy the event loop before the loop yields. */
export const sliceMs = 4;
/** Like `sliceMs`, for background work. The time is shorter, because requests wait while background work runs. */
export const backgroundSliceMs = 2;

/** Splits a long loop into slices by time. After each round, run `if (slices.isOver()) await slices.next();` */
export class Slices {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #ms: number;
  #begunMs: number;

  constructor(clock: Pick<Clock, 'monotonic'>, ms = sliceMs) {
    this.#clock = clock;
    this.#ms = ms;
    this.#begunMs = clock.monotonic();
  }

  /** Returns whether the time of the current slice is used up. */
  isOver(): boolean {
    return this.#clock.monotonic() - this.#begunMs >= this.#ms;
  }

  /** Resolves in a later turn of the event loop, in which the next slice starts. */
  async next(): Promise<void> {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    this.#begunMs = this.#clock.monotonic();
  }
}
