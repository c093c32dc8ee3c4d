import type { Clock } from './clock.ts';
import { Fifo } from './fifo.ts';

/**
 * Divides each turn of the event loop among long-running readers: one after the other, in order of request, until the
 * turn's time is used up. A reader that needs more time queues again behind the others.
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

  /** Resolves when the caller may work, until its next actual wait. */
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
        // A tick runs after all pending promise callbacks: the resumed reader has done its work by then.
        await new Promise<void>((resolve) => { process.nextTick(resolve); });
      } while (this.#waiting.length > 0 && this.#clock.monotonic() < endsAt);
    }
    this.#isRunning = false;
  }
}
