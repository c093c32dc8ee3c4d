import type { Clock } from './clock.ts';
import { TurnQueue } from './turn-queue.ts';

/**
 * Divides each turn of the event loop among long-running readers. Readers run one after another, in order of request,
 * until the turn's time is used up; a reader that needs more time queues again. Accounts alternate.
 */
export class EventLoopTurns {
  readonly #clock: Clock;
  readonly #turnMs: number;
  readonly #waiting = new TurnQueue<string, () => void>();
  #isRunning = false;
  /** The end of the time for readers that begin in this turn; undefined if none has begun. */
  #endsAt: number | undefined;

  constructor(clock: Clock, turnMs: number) {
    this.#clock = clock;
    this.#turnMs = turnMs;
  }

  /** Resolves when the caller may work, until its next actual wait. */
  next(account = ''): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add(account, resolve);
      if (!this.#isRunning) void this.#run();
    });
  }

  /**
   * For short work: undefined if the work may start now, because nobody waits and this turn has time left. The work
   * must then start without an `await`, not even of undefined: until it starts, its time does not count.
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
        // A tick runs after all pending promise callbacks: the resumed reader has done its work by then.
        await new Promise<void>((resolve) => {
          process.nextTick(resolve);
        });
      } while (this.#waiting.size > 0 && this.#clock.monotonic() < endsAt);
    }
    this.#isRunning = false;
  }
}
