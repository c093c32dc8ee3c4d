import type { Clock } from './clock.ts';

/** How long a loop holds the event loop before other work gets its turn. */
export const sliceMs = 4;

/**
 * Cuts a long loop into slices by time, as a count says nothing about what one round costs:
 * `if (slices.isOver()) await slices.next();` after each round.
 */
export class Slices {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #begunMs: number;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
    this.#begunMs = clock.monotonic();
  }

  /** Whether this slice has taken its time. */
  isOver(): boolean {
    return this.#clock.monotonic() - this.#begunMs >= sliceMs;
  }

  /** Resolves in a later turn of the event loop, where the next slice begins. */
  async next(): Promise<void> {
    await new Promise((resolve) => { setImmediate(resolve); });
    this.#begunMs = this.#clock.monotonic();
  }
}
