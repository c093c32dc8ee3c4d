import type { Clock } from '../../../src/base/clock.ts';
import { backgroundSliceMs, type Slices } from '../../../src/base/slices.ts';

/** Ends background work after the tables were cleared, or when the server stops. */
export class StaleWorkError extends Error {}

/** Divides background work into short slices. */
export class BackgroundPace implements Pick<Slices, 'isOver' | 'next'> {
  readonly #clock: Clock;
  #begunMs: number;
  #era = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#begunMs = clock.monotonic();
  }

  isOver(): boolean {
    return this.#clock.monotonic() - this.#begunMs >= backgroundSliceMs;
  }

  /**
   * Resolves when the next slice begins.
   *
   * @throws StaleWorkError if `end` is called during the wait.
   */
  async next(): Promise<void> {
    const era = this.#era;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    if (era !== this.#era) throw new StaleWorkError();
    this.#begunMs = this.#clock.monotonic();
  }

  /** Ends all work that waits for its next slice, with StaleWorkError. */
  end(): void {
    this.#era += 1;
  }
}
