import { Fifo } from '../../src/base/fifo.ts';

/** A row that is no longer in any order, with the last view that may read the row. */
type Retired = {
  readonly ordinal: number;
  readonly view: number;
};

/**
 * The open views of an index. A view reads one state of the index over several turns, while the index changes. Data
 * that an open view may read is copied on write.
 */
export class IndexViews {
  #opened = 0;
  /** The numbers of the open views, ascending. */
  readonly #open = new Set<number>();
  /** The highest number of an open view; 0 without open views. */
  #newest = 0;
  readonly #retired = new Fifo<Retired>();
  readonly #free: (ordinal: number) => void;

  /** `free` is called with the ordinal of a retired row when no open view may read the row. */
  constructor(free: (ordinal: number) => void) {
    this.#free = free;
  }

  /**
   * The number of views that were opened since the start. Views up to this number do not read data that is created
   * later.
   */
  get opened(): number {
    return this.#opened;
  }

  get areOpen(): boolean {
    return this.#newest > 0;
  }

  /** The number of retired rows that an open view may read. */
  get retired(): number {
    return this.#retired.length;
  }

  /** Whether an open view may read data that was created when `opened` had the value `made`. */
  see(made: number): boolean {
    return this.#newest > made;
  }

  open(): number {
    this.#opened += 1;
    this.#open.add(this.#opened);
    this.#newest = this.#opened;
    return this.#opened;
  }

  close(view: number): void {
    if (!this.#open.delete(view)) return;
    this.#newest = 0;
    for (const open of this.#open) this.#newest = open;
    const [oldest = Infinity] = this.#open;
    for (let next = this.#retired.peek(); next !== undefined && next.view < oldest; next = this.#retired.peek()) {
      this.#retired.shift();
      this.#free(next.ordinal);
    }
  }

  /** Frees a row as soon as no open view may read the row. Call `retire` after the row was removed from all orders. */
  retire(ordinal: number): void {
    if (this.areOpen) this.#retired.push({ ordinal, view: this.#newest });
    else this.#free(ordinal);
  }
}
