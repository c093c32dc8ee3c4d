import { TurnQueue } from '../base/turn-queue.ts';

/**
 * So many tasks at once. Those that wait are let in by account in turn, and within one account in the order they came: an
 * account with a thousand tasks delays another's by one place, not by a thousand.
 */
export class SharedPlaces {
  #free: number;
  readonly #waiting = new TurnQueue<string, () => void>();

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
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => { this.#waiting.add(account, resolve); });
  }

  /** The place goes to the next account, which then is behind all others. */
  #leave(): void {
    const enter = this.#waiting.take();
    if (enter === undefined) this.#free += 1;
    else enter();
  }
}
