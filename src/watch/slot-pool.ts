import { TurnQueue } from '../base/turn-queue.ts';

/**
 * Limits concurrent tasks. Accounts with waiting tasks take turns, and the tasks of one account start in order. An
 * account with a thousand tasks thus delays another account's next task by one task.
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

  /** Passes the slot to the next waiting account, or frees the slot. */
  #leave(): void {
    const enter = this.#waiting.take();
    if (enter === undefined) this.#free += 1;
    else enter();
  }
}
