import type { Row } from './table-answer.ts';

/** The number of rows in one request. */
export const pageSize = 100;
/** The maximum number of pages in memory, so that the memory does not grow with the list. */
const pagesMax = 24;

/** The place of a row in memory. */
type Place = { readonly page: number; readonly index: number };

/** The rows of a long list in memory, by page. The least recently used pages are dropped. */
export class RowPages {
  readonly #pages = new Map<number, readonly Row[]>();
  readonly #places = new Map<string, Place>();
  /** The pages with rows that may have moved. These pages are shown until they are read again. */
  readonly #stale = new Set<number>();

  at(index: number): Row | undefined {
    return this.#pages.get(Math.floor(index / pageSize))?.[index % pageSize];
  }

  /** Returns the rows of a page; undefined if they are not in memory. */
  page(page: number): readonly Row[] | undefined {
    return this.#pages.get(page);
  }

  *all(): Generator<Row> {
    for (const rows of this.#pages.values()) yield* rows;
  }

  /** Returns whether a page must be read, and marks the page as used. */
  lacks(page: number): boolean {
    const rows = this.#pages.get(page);
    if (rows === undefined) return true;
    this.#pages.delete(page);
    this.#pages.set(page, rows);
    return this.#stale.has(page);
  }

  put(page: number, rows: readonly Row[]): void {
    this.#drop(page);
    this.#pages.set(page, rows);
    for (const [index, row] of rows.entries()) this.#places.set(row.object.metadata.uid, { page, index });
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= pagesMax) break;
      this.#drop(oldest);
    }
  }

  /** Replaces the row of the same object if `row` is newer. Returns whether a row was replaced. */
  replace(row: Row): boolean {
    const { uid, resourceVersion } = row.object.metadata;
    const place = this.#places.get(uid);
    const rows = place === undefined ? undefined : this.#pages.get(place.page);
    const known = place === undefined ? undefined : rows?.[place.index];
    if (place === undefined || rows === undefined || known === undefined) return false;
    if (Number(known.object.metadata.resourceVersion) >= Number(resourceVersion)) return false;
    this.#pages.set(place.page, rows.with(place.index, row));
    return true;
  }

  /** Marks all pages as stale, because rows were added, removed or moved. */
  outdate(): void {
    for (const page of this.#pages.keys()) this.#stale.add(page);
  }

  clear(): void {
    this.#pages.clear();
    this.#places.clear();
    this.#stale.clear();
  }

  #drop(page: number): void {
    for (const { object } of this.#pages.get(page) ?? [])
      if (this.#places.get(object.metadata.uid)?.page === page) this.#places.delete(object.metadata.uid);
    this.#pages.delete(page);
    this.#stale.delete(page);
  }
}
