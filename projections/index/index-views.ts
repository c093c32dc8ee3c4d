import { Fifo } from '../../src/base/fifo.ts';

/** A row that no order holds any more, and the last view that may read it. */
type Retired = { readonly ordinal: number; readonly view: number };

/**
 * Who reads one state of an index over several turns while it goes on being changed. What an open view may still read is
 * not written to: chunks of orders are copied first, and a row keeps its ordinal until all views are closed that may
 * meet it.
 */
export class IndexViews {
  #opened = 0;
  /** The numbers of the open ones, ascending. */
  readonly #open = new Set<number>();
  /** The greatest of them; 0: none is open. */
  #newest = 0;
  readonly #retired = new Fifo<Retired>();
  readonly #free: (ordinal: number) => void;

  /** `free` is called with each retired row once nobody reads it any more. */
  constructor(free: (ordinal: number) => void) {
    this.#free = free;
  }

  /** How many were opened in all: what is made now is seen by none of them. */
  get opened(): number {
    return this.#opened;
  }

  get areOpen(): boolean {
    return this.#newest > 0;
  }

  /** How many rows wait for a view to be closed. */
  get retired(): number {
    return this.#retired.length;
  }

  /** Whether a view reads what was made when `opened` had this value. */
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

  /** The row is in no order any more. */
  retire(ordinal: number): void {
    if (this.areOpen) this.#retired.push({ ordinal, view: this.#newest });
    else this.#free(ordinal);
  }
}
