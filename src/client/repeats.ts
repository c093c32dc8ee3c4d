import { delay, type Clock } from '../base/clock.ts';
import type { ClientError } from '../plugin/api/plugin.ts';

export type RepeatSettings = {
  readonly chance: () => number;
  /** The time in which a call repeats its request, in milliseconds; 0: each request is sent once. */
  readonly retryMs: number;
};

/**
 * Which requests are sent again after a 503. `always`: a second effect is impossible. `unwritten`: only a request of
 * which the server says that it had no effect.
 */
export type Repeatable = 'always' | 'unwritten';

type Refused = {
  readonly error: ClientError;
  readonly isUnwritten: boolean;
};

/**
 * The repetitions of one call that the server refuses for a short time. A 429 refuses a request before it has an
 * effect. A write that is refused with 503 may be applied later.
 */
export class Repeats {
  readonly #clock: Clock;
  readonly #settings: RepeatSettings;
  readonly #endsAt: number;

  constructor(clock: Clock, settings: RepeatSettings) {
    this.#clock = clock;
    this.#settings = settings;
    this.#endsAt = clock.monotonic() + settings.retryMs;
  }

  /** Waits for the server's Retry-After, and returns whether the request may be sent again. */
  async wait({ error, isUnwritten }: Refused, repeatable: Repeatable, signal?: AbortSignal): Promise<boolean> {
    const { status, retryAfterSeconds } = error;
    const isSafe = status === 429 || (status === 503 && (repeatable === 'always' || isUnwritten));
    if (!isSafe || retryAfterSeconds === undefined) return false;
    // The random part spreads clients that are refused together, also if a past date requests no wait.
    const waitMs = Math.max(retryAfterSeconds * 1_000, shortestMs) * (1 + this.#settings.chance() / 10);
    if (this.#clock.monotonic() + waitMs > this.#endsAt) return false;
    await delay(this.#clock, waitMs, signal);
    signal?.throwIfAborted();
    return true;
  }
}

const shortestMs = 200;
