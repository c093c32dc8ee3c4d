import type { Clock } from './clock.ts';
import { TurnQueue } from './turn-queue.ts';

/**
 * Divides each turn of the event loop among long-running readers. Readers run one after another, in order of request,
 * until the time of the turn is used up. A reader that needs more time queues again. Accounts alternate.
 */
export class EventLoopTurns {
  readonly #clock: Clock;
  readonly #turnMs: number;
  readonly #waiting = new TurnQueue<string, () => void>();
  #isRunning = false;
  /** The time at which this turn's budget ends; undefined if no reader has started in this turn. */
  #endsAt: number | undefined;

  constructor(clock: Clock, turnMs: number) {
    this.#clock = clock;
    this.#turnMs = turnMs;
  }

  /** Resolves when the caller may work. The caller may work until its next wait that yields to the event loop. */
  next(account = ''): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add(account, resolve);
      if (!this.#isRunning) void this.#run();
    });
  }

  /**
   * For short work. Returns undefined if the work may start now, because no reader is queued and this turn has time
   * left. The caller must then start the work without an `await`, even of undefined: time before the start is not
   * measured.
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
        // `nextTick` runs after all pending promise callbacks, and thus after the work of the resumed reader.
        await new Promise<void>((resolve) => {
          process.nextTick(resolve);
        });
      } while (this.#waiting.size > 0 && this.#clock.monotonic() < endsAt);
    }
    this.#isRunning = false;
  }
}
