import type { Clock, Timer } from '../../../src/base/clock.ts';

type Pending = { readonly due: number; readonly task: () => void };

/** A clock that only the test advances. */
export class FakeClock implements Clock {
  #now: number;
  #monotonic = 0;
  /** The pending timers, in the order in which they were set: timers with the same due time run in that order. */
  readonly #pending = new Set<Pending>();

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  after(delayMs: number, task: () => void): Timer {
    const pending = { due: this.#monotonic + Math.max(0, delayMs), task };
    this.#pending.add(pending);
    return {
      cancel: () => {
        this.#pending.delete(pending);
      },
    };
  }

  /** The number of pending timers. */
  get timers(): number {
    return this.#pending.size;
  }

  /** Advances the clock by `ms`. Each due timer runs at its own time, including timers that other timers set. */
  advance(ms: number): void {
    const end = this.#monotonic + ms;
    for (let next = this.#nextDue(end); next !== undefined; next = this.#nextDue(end)) {
      this.#pending.delete(next);
      this.#pass(next.due - this.#monotonic);
      next.task();
    }
    this.#pass(end - this.#monotonic);
  }

  /** Changes the wall clock alone, as it does when an operator sets the time. */
  jump(ms: number): void {
    this.#now += ms;
  }

  #pass(ms: number): void {
    this.#monotonic += ms;
    this.#now += ms;
  }

  #nextDue(end: number): Pending | undefined {
    let next: Pending | undefined;
    for (const pending of this.#pending) {
      if (pending.due <= end && (next === undefined || pending.due < next.due)) next = pending;
    }
    return next;
  }
}
