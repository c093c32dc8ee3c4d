export type SlidingCountsOptions = {
  /**
   * The length of the window, that is, the time for which an event is counted, in milliseconds of a monotonic clock.
   */
  readonly windowMs: number;
  /** The maximum number of keys. Above it, the key with the oldest last `add` is dropped. */
  readonly keysMax: number;
  /** The maximum number of events of one key. Above it, the oldest event of the key is dropped. */
  readonly eventsMax: number;
};

/**
 * Counts the events of each key in the last `windowMs`. The window slides with the time and has no fixed intervals, so
 * the counts are exact up to the two maximum numbers.
 */
export class SlidingCounts {
  readonly #options: SlidingCountsOptions;
  /** The times of events by key, oldest first. The keys are in the order of their last `add`. */
  readonly #times = new Map<string, number[]>();

  constructor(options: SlidingCountsOptions) {
    this.#options = options;
  }

  /** The number of stored keys. A key without an event in the window may be included. */
  get size(): number {
    return this.#times.size;
  }

  add(key: string, now: number): void {
    const times = this.#current(key, now);
    this.#times.delete(key);
    this.#makeRoom(now);
    if (times.length >= this.#options.eventsMax) times.shift();
    times.push(now);
    this.#times.set(key, times);
  }

  /** Removes one event that was added at `at`, if there is one. */
  takeBack(key: string, at: number): void {
    const times = this.#times.get(key);
    const place = times?.lastIndexOf(at) ?? -1;
    if (place !== -1) times?.splice(place, 1);
    if (times?.length === 0) this.#times.delete(key);
  }

  count(key: string, now: number): number {
    return this.#current(key, now).length;
  }

  /** Returns the milliseconds until the window contains fewer than `max` events of the key; 0 if it does now. */
  waitMs(key: string, max: number, now: number): number {
    const times = this.#current(key, now);
    const last = times.at(-max);
    return last === undefined ? 0 : last + this.#options.windowMs - now;
  }

  /** Drops the times before the window, and returns the rest. */
  #current(key: string, now: number): number[] {
    const times = this.#times.get(key) ?? [];
    const first = times.findIndex((at) => at + this.#options.windowMs > now);
    if (first === 0) return times;
    times.splice(0, first === -1 ? times.length : first);
    if (times.length === 0) this.#times.delete(key);
    return times;
  }

  #makeRoom(now: number): void {
    for (const [key, times] of this.#times) {
      const isOver = (times.at(-1) ?? 0) + this.#options.windowMs <= now;
      if (!isOver && this.#times.size < this.#options.keysMax) return;
      this.#times.delete(key);
    }
  }
}
