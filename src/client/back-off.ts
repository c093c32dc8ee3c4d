import { delay, type Clock } from '../base/clock.ts';
import { ClientError } from '../plugin/api/plugin.ts';
import { ConnectionError } from './connection-error.ts';

const firstMs = 200;
const longestMs = 30_000;
/** The maximum Retry-After that a client obeys, in milliseconds. A longer Retry-After is shortened to this maximum. */
const askedMsMax = 300_000;

export type Chance = () => number;

/**
 * Waits between attempts. The wait grows with each attempt up to a maximum, and contains a random part. The wait is at
 * least as long as the server's Retry-After, up to `askedMsMax`.
 */
export class BackOff {
  readonly #clock: Clock;
  readonly #chance: Chance;
  #attempts = 0;

  constructor(clock: Clock, chance: Chance) {
    this.#clock = clock;
    this.#chance = chance;
  }

  /** Resets the wait after progress. */
  reset(): void {
    this.#attempts = 0;
  }

  /** Resolves after the wait; rejects when the signal aborts. */
  async wait(error: unknown, signal: AbortSignal): Promise<void> {
    const ceiling = Math.min(firstMs * 2 ** Math.min(this.#attempts, 16), longestMs);
    // The first wait may be as short as 0, because random first waits spread the clients after a restart of the server.
    const drawn = this.#attempts === 0 ? ceiling * this.#chance() : (ceiling * (1 + this.#chance())) / 2;
    this.#attempts += 1;
    const requestedMs = error instanceof ClientError ? Math.min((error.retryAfterSeconds ?? 0) * 1_000, askedMsMax) : 0;
    await delay(this.#clock, Math.max(drawn, requestedMs * (1 + this.#chance() / 10)), signal);
    signal.throwIfAborted();
  }
}

/** Whether a later attempt may succeed. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ClientError) return error.status >= 500 || [408, 410, 429].includes(error.status);
  return error instanceof ConnectionError;
}
