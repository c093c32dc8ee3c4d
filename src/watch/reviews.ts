import type { Piece, Slices } from './slices.ts';

/** A stream that outlives the request which allowed it. */
export type Reviewed = {
  /** No write starts before the result. */
  hold(): void;
  /** Receives the result of the check: continue, or end without unsent data. */
  applyVerdict(isAllowed: boolean): void;
};

/**
 * Authorizes thousands of streams again. All are held in the turn of the change, so nothing reaches a peer that has
 * just lost its right; the checks take as many turns as necessary. A further change repeats all checks, starting with
 * those still waiting, so frequent changes delay none for ever.
 */
export class Reviews<T extends Reviewed> implements Piece {
  readonly #slices: Slices;
  /** In the order of their checks. */
  readonly #waiting = new Set<T>();
  #isAllowed: (item: T) => boolean = () => false;
  #isQueued = false;

  constructor(slices: Slices) {
    this.#slices = slices;
  }

  /** Begins the checks. `isAllowed` is called now or in a later turn, and must not throw. */
  begin(items: Iterable<T>, isAllowed: (item: T) => boolean): void {
    this.#isAllowed = isAllowed;
    for (const item of items) {
      item.hold();
      this.#waiting.add(item);
    }
    if (!this.#isQueued) this.run();
  }

  /** Runs some checks in a turn. */
  run(): void {
    this.#isQueued = false;
    for (const item of this.#waiting) {
      if (!this.#slices.hasTime()) {
        this.#isQueued = true;
        this.#slices.runLater(this);
        return;
      }
      this.#waiting.delete(item);
      item.applyVerdict(this.#isAllowed(item));
    }
  }
}
