import type { Clock, Timer } from '../../src/base/clock.ts';
import type { LogPosition } from '../../src/log/log.ts';

type Outcome = 'reached' | 'timeout' | 'aborted';

type Waiter = {
  readonly position: LogPosition;
  readonly settle: (outcome: Outcome) => void;
};

/** Callers that wait until the read model has folded the events up to a position. */
export class PositionWaiters {
  readonly #clock: Clock;
  #waiters: Waiter[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#waiters.length;
  }

  /** Waits for a position that the read model has not reached yet. */
  wait(
    position: LogPosition,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Outcome | Promise<Outcome> {
    if (signal?.aborted === true) return 'aborted';
    return new Promise((resolve) => {
      const abort = (): void => {
        waiter.settle('aborted');
      };
      const timer: Timer = this.#clock.after(timeoutMs, () => {
        waiter.settle('timeout');
      });
      const waiter: Waiter = {
        position,
        settle: (outcome) => {
          timer.cancel();
          signal?.removeEventListener('abort', abort);
          if (outcome !== 'reached') this.#waiters = this.#waiters.filter((other) => other !== waiter);
          resolve(outcome);
        },
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiters.push(waiter);
    });
  }

  /** Resolves the waits for `position` and for earlier positions. */
  reached(position: LogPosition): void {
    if (this.#waiters.length === 0) return;
    const reached = this.#waiters.filter((waiter) => waiter.position <= position);
    if (reached.length === 0) return;
    this.#waiters = this.#waiters.filter((waiter) => waiter.position > position);
    for (const waiter of reached) waiter.settle('reached');
  }
}
