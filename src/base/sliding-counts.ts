export type SlidingCountsOptions = {
  /** The time for which an event is counted, in milliseconds of a monotonic clock. */
  readonly windowMs: number;
  /** The maximum number of keys. A further key drops the key with the oldest last `add`. */
  readonly keysMax: number;
  /** The maximum number of events of one key. A further event drops the key's oldest event. */
  readonly eventsMax: number;
};

/**
 * Counts the events of each key in the last `windowMs`. The window slides with the time, so the counts are exact up to
 * the two maximum numbers.
 */
export class SlidingCounts {
  readonly #options: SlidingCountsOptions;
  /** The times of events by key, oldest first. The keys are in the order of their last `add`. */
  readonly #times = new Map<string, number[]>();

  constructor(options: SlidingCountsOptions) {
    this.#options = options;
  }

  /** The number of stored keys, perhaps with keys that have no event in the window. */
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

  /** Removes one event that was added at `at`; does nothing without such an event. */
  takeBack(key: string, at: number): void {
    const times = this.#times.get(key);
    const place = times?.lastIndexOf(at) ?? -1;
    if (place !== -1) times?.splice(place, 1);
    if (times?.length === 0) this.#times.delete(key);
  }

  count(key: string, now: number): number {
    return this.#current(key, now).length;
  }

  /** Returns the milliseconds until the window has fewer than `max` events of the key; 0 if it has fewer now. */
  waitMs(key: string, max: number, now: number): number {
    const times = this.#current(key, now);
    const last = times.at(-max);
    return last === undefined ? 0 : last + this.#options.windowMs - now;
  }

  /** Drops the times before the window, and returns the other times. */
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
