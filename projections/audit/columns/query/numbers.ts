import { columnPagesKeptMax } from '../../../../src/limits/columns.ts';

/** The count of numbers in a page. */
const pageSize = 4_096;

/**
 * Pages of numbers that consecutive queries reuse. The memory of new pages would make the garbage collector visit the
 * whole heap more often.
 */
export class NumberPages {
  readonly #free: Float64Array[] = [];

  take(): Float64Array {
    return this.#free.pop() ?? new Float64Array(pageSize);
  }

  /** Takes back pages, which the caller must no longer use. */
  release(pages: Float64Array[]): void {
    for (const page of pages.splice(0)) if (this.#free.length < columnPagesKeptMax) this.#free.push(page);
  }
}

/** A list of numbers outside of the JavaScript heap. Grows by pages, because copying the list would leave garbage. */
export class Numbers {
  readonly #source: NumberPages;
  readonly #pages: Float64Array[] = [];
  #length = 0;

  constructor(source: NumberPages) {
    this.#source = source;
  }

  get length(): number {
    return this.#length;
  }

  push(number: number): void {
    const place = this.#length % pageSize;
    if (place === 0) this.#pages.push(this.#source.take());
    const page = this.#pages.at(-1);
    if (page !== undefined) page[place] = number;
    this.#length += 1;
  }

  /** The number at a place below `length`. */
  at(place: number): number {
    return this.#pages[Math.floor(place / pageSize)]?.[place % pageSize] ?? NaN;
  }

  /** Empties the list, so that later lists can reuse its pages. */
  release(): void {
    this.#source.release(this.#pages);
    this.#length = 0;
  }
}
