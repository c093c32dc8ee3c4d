import type { Piece, Slices } from './slices.ts';

/** Outlives the request that allowed it. */
export type Reviewed = {
  /** Nothing begins to be sent before the verdict. */
  hold(): void;
  /** The verdict: it goes on, or ends without what waits. */
  judge(isAllowed: boolean): void;
};

/**
 * Asks again whether thousands are allowed. All are held in the turn of the change, so nothing reaches a peer that has just
 * lost its right; the questions are asked in as many turns as they take. A change in between asks all of them again, those
 * that still wait first, so frequent changes keep nobody waiting for ever.
 */
export class Reviews<T extends Reviewed> implements Piece {
  readonly #slices: Slices;
  /** In the order they will be asked about. */
  readonly #waiting = new Set<T>();
  #isAllowed: (item: T) => boolean = () => false;
  #isQueued = false;

  constructor(slices: Slices) {
    this.#slices = slices;
  }

  /** `isAllowed` answers for this moment or a later one. It must not throw. */
  begin(items: Iterable<T>, isAllowed: (item: T) => boolean): void {
    this.#isAllowed = isAllowed;
    for (const item of items) {
      item.hold();
      this.#waiting.add(item);
    }
    if (!this.#isQueued) this.run();
  }

  /** Its turn. */
  run(): void {
    this.#isQueued = false;
    for (const item of this.#waiting) {
      if (!this.#slices.hasTime()) {
        this.#isQueued = true;
        this.#slices.add(this);
        return;
      }
      this.#waiting.delete(item);
      item.judge(this.#isAllowed(item));
    }
  }
}
