import { setImmediate as afterThisTurn } from 'node:timers';

import { Fifo } from '../base/fifo.ts';
import type { Clock } from '../base/clock.ts';

/** One piece of work, short by itself; there may be thousands of them at once. */
export type Piece = { run(): void };

/**
 * Shares out each turn of the event loop: pieces run in the order they were added until the turn's time is used up, and the
 * others wait for the next turn. So what one event causes, such as the end of ten thousand watches, never holds the loop.
 */
export class Slices {
  readonly #clock: Clock;
  readonly #turnMs: number;
  readonly #waiting = new Fifo<Piece>();
  /** When this turn's time is used up; undefined in a turn in which nobody has asked. */
  #endsAt: number | undefined;

  constructor(clock: Clock, turnMs: number) {
    this.#clock = clock;
    this.#turnMs = turnMs;
  }

  /** Whether a short piece of work may be done at once; otherwise `add` it. */
  hasTime(): boolean {
    const now = this.#clock.monotonic();
    if (this.#endsAt === undefined) {
      this.#endsAt = now + this.#turnMs;
      this.#await();
    }
    return now < this.#endsAt;
  }

  /** Runs it at once while the turn has time, otherwise in a later turn. It must not throw. */
  soon(piece: Piece): void {
    if (this.hasTime()) piece.run();
    else this.add(piece);
  }

  /** Runs it in a later turn. It must not throw. */
  add(piece: Piece): void {
    this.#waiting.push(piece);
    if (this.#endsAt !== undefined) return;
    this.#endsAt = this.#clock.monotonic() + this.#turnMs;
    this.#await();
  }

  #await(): void {
    afterThisTurn(() => { this.#turn(); });
  }

  #turn(): void {
    this.#endsAt = undefined;
    // What a piece adds has the next turn at the earliest.
    for (let left = this.#waiting.length; left > 0 && this.hasTime(); left -= 1) this.#waiting.shift()?.run();
    if (this.#waiting.length > 0) this.hasTime();
  }
}
