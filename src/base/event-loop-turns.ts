import type { Clock } from './clock.ts';
import { TurnQueue } from './turn-queue.ts';

/**
 * Limits the time that the callers of `next` and `soon` use in each turn of the event loop, for example for long reads.
 * Queued callers run one after another until the time of the turn is used up; the rest runs in later turns. Accounts
 * alternate, and the callers of one account run in the order of their calls.
 */
export class EventLoopTurns {
  readonly #clock: Clock;
  readonly #turnMs: number;
  readonly #waiting = new TurnQueue<string, () => void>();
  #isRunning = false;
  /**
   * The monotonic time at which the budget for short work ends in this turn; undefined before the first call of `soon`
   * in a turn.
   */
  #endsAt: number | undefined;

  constructor(clock: Clock, turnMs: number) {
    this.#clock = clock;
    this.#turnMs = turnMs;
  }

  /**
   * Resolves when the caller may work. The caller must call `next` again after each wait that yields to the event loop.
   */
  next(account = ''): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add(account, resolve);
      if (!this.#isRunning) void this.#run();
    });
  }

  /**
   * Returns undefined if short work may start now, because no caller is queued and this turn has time left. The caller
   * must then start the work without an `await`. Otherwise, many callers could pass this check before the first caller
   * has used any time. If the work may not start now, queues the caller like `next`.
   */
  soon(account: string): Promise<void> | undefined {
    return this.#waiting.size === 0 && this.#hasTime() ? undefined : this.next(account);
  }

  #hasTime(): boolean {
    const now = this.#clock.monotonic();
    if (this.#endsAt === undefined) {
      this.#endsAt = now + this.#turnMs;
      setImmediate(() => {
        this.#endsAt = undefined;
      });
    }
    return now < this.#endsAt;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.size > 0) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      const endsAt = this.#clock.monotonic() + this.#turnMs;
      do {
        this.#waiting.take()?.();
        // `nextTick` runs after all pending promise callbacks, and thus after the work of the resumed caller.
        await new Promise<void>((resolve) => {
          process.nextTick(resolve);
        });
      } while (this.#waiting.size > 0 && this.#clock.monotonic() < endsAt);
    }
    this.#isRunning = false;
  }
}
