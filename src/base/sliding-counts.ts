export type SlidingCountsOptions = {
  /** How long an event counts, in milliseconds of a monotonic clock. */
  readonly windowMs: number;
  /** Keys that are counted at once; past it the key whose last event is longest ago is forgotten. */
  readonly keysMax: number;
  /** Events that are counted for one key; past it the earliest is forgotten. */
  readonly eventsMax: number;
};

/** Events by key within the last `windowMs`, exactly: no window begins or ends, so none has a seam. */
export class SlidingCounts {
  readonly #options: SlidingCountsOptions;
  /** The times of events by key, earliest first; the key whose last event is longest ago comes first. */
  readonly #times = new Map<string, number[]>();

  constructor(options: SlidingCountsOptions) {
    this.#options = options;
  }

  /** Keys that are remembered now. */
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

  /** An event that was added at `at` does not count any more. */
  takeBack(key: string, at: number): void {
    const times = this.#times.get(key);
    const place = times?.lastIndexOf(at) ?? -1;
    if (place !== -1) times?.splice(place, 1);
    if (times?.length === 0) this.#times.delete(key);
  }

  count(key: string, now: number): number {
    return this.#current(key, now).length;
  }

  /** Milliseconds until fewer than `max` events count; 0 where that is so now. */
  waitMs(key: string, max: number, now: number): number {
    const times = this.#current(key, now);
    const last = times.at(-max);
    return last === undefined ? 0 : last + this.#options.windowMs - now;
  }

  /** Drops what is too long ago to count. */
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
