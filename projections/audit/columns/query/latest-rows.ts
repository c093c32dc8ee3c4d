/** The number of ordinals in a page. */
const pageSize = 4_096;

/** The last row of each object name, by the ordinal of the name. Only pages with a row take memory. */
export class LatestRows {
  readonly #pages = new Map<number, Uint32Array>();
  #page: Uint32Array | undefined;
  #number = -1;

  /** Sets the row of an ordinal. `row` is at least 1. */
  set(ordinal: number, row: number): void {
    const number = Math.floor(ordinal / pageSize);
    let page = this.#at(number);
    if (page === undefined) {
      this.#pages.set(number, (page = new Uint32Array(pageSize)));
      this.#page = page;
    }
    page[ordinal % pageSize] = row;
  }

  /** The row of an ordinal; 0 if the ordinal has no row. */
  get(ordinal: number): number {
    return this.#at(Math.floor(ordinal / pageSize))?.[ordinal % pageSize] ?? 0;
  }

  /** Caches the last page, since consecutive calls mostly need the same page. */
  #at(number: number): Uint32Array | undefined {
    if (number === this.#number) return this.#page;
    this.#number = number;
    this.#page = this.#pages.get(number);
    return this.#page;
  }
}
