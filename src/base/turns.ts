import type { Clock } from './clock.ts';
import { Fifo } from './fifo.ts';

/**
 * Shares out each turn of the event loop among those who read for long: one after the other in the order they asked, until
 * the turn's time is used up. Who has had its turn asks for the next one behind all others.
 */
export class Turns {
  readonly #clock: Clock;
  readonly #turnMs: number;
  readonly #waiting = new Fifo<() => void>();
  #isRunning = false;

  constructor(clock: Clock, turnMs: number) {
    this.#clock = clock;
    this.#turnMs = turnMs;
  }

  /** Resolves when the caller may work for a short while, up to its next real wait. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      await new Promise((resolve) => { setImmediate(resolve); });
      const endsAt = this.#clock.monotonic() + this.#turnMs;
      do {
        this.#waiting.shift()?.();
        // Ticks run once no promise is left to settle: by then what was woken has done its work.
        await new Promise<void>((resolve) => { process.nextTick(resolve); });
      } while (this.#waiting.length > 0 && this.#clock.monotonic() < endsAt);
    }
    this.#isRunning = false;
  }
}
