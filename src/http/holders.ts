/**
 * Counts those who hold something scarce, and lets others wait for one of them to end, in order. The bound itself is kept
 * where the thing is handed out: only who was refused there waits here.
 */
export class Holders {
  #count = 0;
  /** Those who wait, the first one first. Empty while nobody holds. */
  readonly #waiting: (() => void)[] = [];

  begin(): void {
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    this.wake();
  }

  /** Resolves when it is worth another try, which must end in `begin` or `wake`; undefined when no holder will tell. */
  ended(): Promise<void> | undefined {
    return this.#count === 0 ? undefined : new Promise((resolve) => { this.#waiting.push(resolve); });
  }

  /** The first who waits may try again. */
  wake(): void {
    this.#waiting.shift()?.();
  }
}
