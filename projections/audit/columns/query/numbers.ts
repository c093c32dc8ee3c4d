/** The count of numbers in a page. */
const pageSize = 4_096;

/** A growing list of numbers outside of the JavaScript heap. It grows by pages, because copies would become garbage. */
export class Numbers {
  readonly #pages: Float64Array[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(number: number): void {
    const place = this.#length % pageSize;
    if (place === 0) this.#pages.push(new Float64Array(pageSize));
    const page = this.#pages.at(-1);
    if (page !== undefined) page[place] = number;
    this.#length += 1;
  }

  /** The number at a place below `length`. */
  at(place: number): number {
    return this.#pages[Math.floor(place / pageSize)]?.[place % pageSize] ?? NaN;
  }
}
