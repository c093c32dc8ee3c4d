import { Fifo } from '../base/fifo.ts';

/**
 * So many tasks at once. Those that wait are let in by account in turn, and within one account in the order they came: an
 * account with a thousand tasks delays another's by one place, not by a thousand.
 */
export class SharedPlaces {
  #free: number;
  /** By account, none empty. The account that is let in next comes first. */
  readonly #waiting = new Map<string, Fifo<() => void>>();

  constructor(places: number) {
    this.#free = places;
  }

  /** Whether a task waits for a place. */
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
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve) => {
      const waiting = this.#waiting.get(account) ?? new Fifo<() => void>();
      waiting.push(resolve);
      this.#waiting.set(account, waiting);
    });
  }

  /** The place goes to the next account, which then is behind all others. */
  #leave(): void {
    for (const [account, waiting] of this.#waiting) {
      this.#waiting.delete(account);
      const enter = waiting.shift();
      if (waiting.length > 0) this.#waiting.set(account, waiting);
      enter?.();
      return;
    }
    this.#free += 1;
  }
}
