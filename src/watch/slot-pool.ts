import { TurnQueue } from '../base/turn-queue.ts';

/**
 * Limits concurrent tasks. The accounts with waiting tasks take turns, and the tasks of one account start in order. So
 * an account with a thousand tasks delays the next task of another account by one task, not by a thousand.
 */
export class SlotPool {
  #free: number;
  readonly #waiting = new TurnQueue<string, () => void>();

  constructor(slots: number) {
    this.#free = slots;
  }

  /** Whether a task waits for a slot. */
  get isCrowded(): boolean {
    return this.#waiting.size > 0;
  }

  async run<T>(account: string, task: () => Promise<T>): Promise<T> {
    await this.#enter(account);
    try {
      return await task();
    } finally {
      this.#leave();
    }
  }

  async #enter(account: string): Promise<void> {
    if (this.#free > 0) this.#free -= 1;
    else
      await new Promise<void>((resolve) => {
        this.#waiting.add(account, resolve);
      });
  }

  /** Passes the slot to the next waiting account. Without a waiting account, the slot becomes free. */
  #leave(): void {
    const enter = this.#waiting.take();
    if (enter === undefined) this.#free += 1;
    else enter();
  }
}
