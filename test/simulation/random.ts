/** The one source of chance of a run: the same seed draws the same numbers, on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    // Neighbouring seeds must not begin alike.
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
    for (let warm = 0; warm < 4; warm += 1) this.next();
  }

  /** At least 0, below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from 0 to `bound` - 1. */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(probability: number): boolean {
    return probability > 0 && this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const picked = items[this.below(items.length)];
    if (picked === undefined) throw new RangeError('nothing to pick from');
    return picked;
  }

  /** By weight; those of weight 0 are never drawn. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries<number>(weights) as [K, number][];
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      left -= weight;
      if (left < 0) return key;
    }
    return this.pick(entries.filter(([, weight]) => weight > 0))[0];
  }
}
