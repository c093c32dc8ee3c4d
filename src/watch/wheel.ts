import type { Clock, Timer } from '../base/clock.ts';

type WheelOptions = {
  readonly periodMs: number;
  readonly slots: number;
};

/**
 * One timer for any number of items. Each item is visited once in a period. The period is divided into slots, so that
 * one turn does not visit all of ten thousand items.
 */
export class Wheel<T> {
  readonly #clock: Clock;
  readonly #slotMs: number;
  readonly #slots: readonly Set<T>[];
  readonly #visit: (item: T, now: number) => void;
  /** The slot of each item. */
  readonly #slotOf = new Map<T, Set<T>>();
  #added = 0;
  #turn = 0;
  /** Defined while the wheel contains items. */
  #timer: Timer | undefined;

  constructor(clock: Clock, options: WheelOptions, visit: (item: T, now: number) => void) {
    this.#clock = clock;
    this.#slotMs = options.periodMs / options.slots;
    this.#slots = Array.from({ length: options.slots }, () => new Set<T>());
    this.#visit = visit;
  }

  get size(): number {
    return this.#slotOf.size;
  }

  items(): readonly T[] {
    return [...this.#slotOf.keys()];
  }

  add(item: T): void {
    const slot = this.#slots[this.#added % this.#slots.length];
    if (slot === undefined) throw new RangeError('a wheel needs at least one slot');
    this.#added += 1;
    slot.add(item);
    this.#slotOf.set(item, slot);
    this.#timer ??= this.#arm();
  }

  delete(item: T): void {
    this.#slotOf.get(item)?.delete(item);
    this.#slotOf.delete(item);
    if (this.#slotOf.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(): Timer {
    return this.#clock.after(this.#slotMs, () => {
      this.#timer = this.#arm();
      const now = this.#clock.monotonic();
      const slot = this.#slots[this.#turn % this.#slots.length];
      this.#turn += 1;
      for (const item of slot ?? []) this.#visit(item, now);
    });
  }
}
