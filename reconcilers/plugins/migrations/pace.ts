import { delay, type Clock } from '../../../src/base/clock.ts';

/** Actions may begin this much earlier than the rate permits. A shorter wait is useless, since timers are not exact. */
const aheadMsMax = 20;

/** Limits the rate of actions. On average, at most `perSecond` actions begin in a second. */
export class Pace {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  /** The time on the monotonic clock at which the rate permits the last action to begin. */
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
