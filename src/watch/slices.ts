import { setImmediate as afterThisTurn } from 'node:timers';

import { Fifo } from '../base/fifo.ts';
import type { Clock } from '../base/clock.ts';

/** A short piece of work. Thousands of pieces may wait at the same time. */
export type Piece = { run(): void };

/**
 * Distributes work over turns of the event loop. Pieces run in order until the time of the turn is used up, and the
 * rest waits for the next turn. The end of ten thousand watches, for example, thus does not block the event loop.
 */
export class Slices {
  readonly #clock: Clock;
  readonly #turnMs: number;
  readonly #waiting = new Fifo<Piece>();
  /** The end of the current turn's time; undefined before the first call in a turn. */
  #endsAt: number | undefined;

  constructor(clock: Clock, turnMs: number) {
    this.#clock = clock;
    this.#turnMs = turnMs;
  }

  /** Returns whether a short piece of work may run now. Otherwise, pass the piece to `runLater`. */
  hasTime(): boolean {
    const now = this.#clock.monotonic();
    if (this.#endsAt === undefined) {
      this.#endsAt = now + this.#turnMs;
      this.#await();
    }
    return now < this.#endsAt;
  }

  /** Runs the piece now if the turn has time, otherwise in a later turn. The piece must not throw. */
  runNowOrLater(piece: Piece): void {
    if (this.hasTime()) piece.run();
    else this.runLater(piece);
  }

  /** Runs the piece in a later turn. The piece must not throw. */
  runLater(piece: Piece): void {
    this.#waiting.push(piece);
    if (this.#endsAt !== undefined) return;
    this.#endsAt = this.#clock.monotonic() + this.#turnMs;
    this.#await();
  }

  #await(): void {
    afterThisTurn(() => {
      this.#turn();
    });
  }

  #turn(): void {
    this.#endsAt = undefined;
    // Pieces that these pieces add run in the next turn at the earliest.
    for (let left = this.#waiting.length; left > 0 && this.hasTime(); left -= 1) this.#waiting.shift()?.run();
    if (this.#waiting.length > 0) this.hasTime();
  }
}
