import type { Piece, Slices } from './slices.ts';

/** A watch or a plugin's stream. The rights of its subject may change while it is open. */
export type Reviewed = {
  /** Prevents new writes until the result of the check. */
  hold(): void;
  /** Receives the result of the check. After a negative result, the stream drops its unsent data and ends. */
  applyVerdict(isAllowed: boolean): void;
};

/**
 * Authorizes thousands of streams again. In the turn in which rights change, no stream starts another write, so a peer
 * without the right receives nothing more. The checks take as many turns as necessary. If rights change again, the
 * streams that already wait are checked first, so no stream is delayed forever.
 */
export class Reviews<T extends Reviewed> implements Piece {
  readonly #slices: Slices;
  /** The streams that wait for their check, in order. */
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

  /** Runs checks while the turn has time. */
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
