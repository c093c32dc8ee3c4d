import { delay, type Clock } from '../../../src/base/clock.ts';

/** The time that may be ahead of the rate before a wait, since timers are not exact. */
const aheadMsMax = 20;

/** Limits a rate: after each of at most `perSecond` actions in a second, the next one may begin. */
export class Pace {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  /** The monotonic time at which all actions so far are within the rate. */
  #dueMs = 0;

  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock;
    this.#intervalMs = 1_000 / perSecond;
  }

  /** Resolves when the next action may begin. */
  async next(signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    this.#dueMs = Math.max(this.#dueMs, now) + this.#intervalMs;
    const aheadMs = this.#dueMs - now;
    if (aheadMs > aheadMsMax) await delay(this.#clock, aheadMs, signal);
  }
}
