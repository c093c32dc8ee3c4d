import type { Clock } from '../../../src/base/clock.ts';
import type { Slices } from '../../../src/base/slices.ts';

/** The work was for tables that were cleared, or the server stops. */
export class StaleWorkError extends Error {}

/** Shorter than the slices of requests, which it runs beside. */
const workMs = 2;

/** Divides work in the background into short slices, and ends it once it is not wanted. */
export class BackgroundPace implements Pick<Slices, 'isOver' | 'next'> {
  readonly #clock: Clock;
  #begunMs: number;
  #era = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#begunMs = clock.monotonic();
  }

  isOver(): boolean {
    return this.#clock.monotonic() - this.#begunMs >= workMs;
  }

  /** @throws StaleWorkError if the work before it was ended meanwhile. */
  async next(): Promise<void> {
    const era = this.#era;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    if (era !== this.#era) throw new StaleWorkError();
    this.#begunMs = this.#clock.monotonic();
  }

  /** Ends all work that was begun before. */
  end(): void {
    this.#era += 1;
  }
}
