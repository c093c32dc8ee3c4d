/** The number of ordinals in a page. */
const pageSize = 32_768;

/** A set of ordinals of object names. A page takes 4 KiB, and only pages with an ordinal take memory. */
export class SeenOrdinals {
  readonly #pages = new Map<number, Uint8Array>();
  #page: Uint8Array | undefined;
  #number = -1;

  /** Adds an ordinal. Returns false if the set already contains the ordinal. */
  add(ordinal: number): boolean {
    const number = Math.floor(ordinal / pageSize);
    let page = this.#at(number);
    if (page === undefined) {
      this.#pages.set(number, (page = new Uint8Array(pageSize / 8)));
      this.#page = page;
    }
    const [at, bit] = [(ordinal % pageSize) >>> 3, 1 << (ordinal & 7)];
    const bits = page[at] ?? 0;
    if ((bits & bit) !== 0) return false;
    page[at] = bits | bit;
    return true;
  }

  has(ordinal: number): boolean {
    const page = this.#at(Math.floor(ordinal / pageSize));
    return page !== undefined && ((page[(ordinal % pageSize) >>> 3] ?? 0) & (1 << (ordinal & 7))) !== 0;
  }

  /** Caches the last page, since consecutive calls mostly need the same page. */
  #at(number: number): Uint8Array | undefined {
    if (number === this.#number) return this.#page;
    this.#number = number;
    this.#page = this.#pages.get(number);
    return this.#page;
  }
}
