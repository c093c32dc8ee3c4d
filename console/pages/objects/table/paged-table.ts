import { ClientError, type RemoteClient } from 'ledgerplane/client';
import { shallowRef, type Ref } from 'vue';

import type { ServedType } from '../../../server/served-types.ts';
import type { RowRange, ShownTable, TableStatus } from './shown-table.ts';
import { readChain, type Column, type Row, type TableQuery } from './table-answer.ts';

export const pageLimits = [25, 100, 500] as const;

/**
 * The rows of a list in a chain of pages: each page has the token of the next page. All pages have the position of the
 * first page, so concurrent writes cannot cause a missing or repeated object. The rows do not follow changes.
 */
export class PagedTable implements ShownTable {
  readonly columns: Ref<readonly Column[]> = shallowRef([]);
  readonly total: Ref<number> = shallowRef(0);
  readonly length: Ref<number> = shallowRef(0);
  readonly status: Ref<TableStatus> = shallowRef('loading');
  readonly error: Ref<unknown> = shallowRef();
  readonly revision: Ref<number> = shallowRef(0);
  /** The number of the shown page in the chain, from 0. */
  readonly page: Ref<number> = shallowRef(0);
  readonly hasNext: Ref<boolean> = shallowRef(false);
  readonly isReading: Ref<boolean> = shallowRef(false);
  /** The position at which all pages of the chain are read. */
  readonly position: Ref<string> = shallowRef('');
  readonly limit: number;
  onRemoved: (uids: readonly string[]) => void = () => undefined;
  readonly #client: RemoteClient;
  readonly #type: ServedType;
  readonly #query: TableQuery;
  /** The tokens of the pages that the user has reached. The first page has no token. */
  #tokens: readonly (string | undefined)[] = [undefined];
  #rows: readonly Row[] = [];
  #reading: AbortController | undefined;

  constructor(client: RemoteClient, type: ServedType, { limit, ...query }: TableQuery & { readonly limit: number }) {
    this.#client = client;
    this.#type = type;
    this.#query = query;
    this.limit = limit;
  }

  rowAt(index: number): Row | undefined {
    return this.#rows[index];
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- all rows of a page are in memory
  async rowsBetween({ first, last }: RowRange): Promise<readonly Row[]> {
    return this.#rows.slice(first, last + 1);
  }

  rowsInMemory(): Iterable<Row> {
    return this.#rows;
  }

  show(): void {
    // All rows of the page are in memory.
  }

  pause(): void {
    // The pages do not follow changes.
  }

  /** Reads the page again after a failure. */
  async resume(): Promise<void> {
    if (this.status.value !== 'fixed') await this.#read(this.page.value);
  }

  async open(): Promise<void> {
    await this.#read(0);
  }

  async next(): Promise<void> {
    if (this.hasNext.value && !this.isReading.value) await this.#read(this.page.value + 1);
  }

  async previous(): Promise<void> {
    if (this.page.value > 0 && !this.isReading.value) await this.#read(this.page.value - 1);
  }

  /** Begins a new chain at the present position. */
  async restart(): Promise<void> {
    this.#tokens = [undefined];
    await this.#read(0);
  }

  refresh(): void {
    void this.restart();
  }

  close(): void {
    this.#reading?.abort();
  }

  async #read(page: number): Promise<void> {
    this.#reading?.abort();
    const reading = new AbortController();
    this.#reading = reading;
    this.isReading.value = true;
    const { signal } = reading;
    const request = { ...this.#query, limit: this.limit, continue: this.#tokens[page], signal };
    try {
      const answer = await readChain(this.#client, this.#type, request);
      const { resourceVersion, continue: token } = answer.metadata;
      if (answer.columnDefinitions !== null) this.columns.value = answer.columnDefinitions;
      this.#rows = answer.rows;
      this.#tokens = [...this.#tokens.slice(0, page + 1), token];
      this.page.value = page;
      this.hasNext.value = token !== undefined && token !== '';
      this.total.value = answer.total ?? answer.rows.length;
      this.length.value = answer.rows.length;
      this.position.value = resourceVersion;
      this.error.value = undefined;
      this.status.value = 'fixed';
      this.revision.value += 1;
    } catch (error) {
      if (!signal.aborted) await this.#recover(error);
    } finally {
      if (this.#reading === reading) this.isReading.value = false;
    }
  }

  /**
   * Begins a new chain if the indexes of the type have changed since the first page, because the tokens are then
   * invalid.
   */
  async #recover(error: unknown): Promise<void> {
    if (error instanceof ClientError && error.status === 410 && this.#tokens.length > 1) {
      await this.restart();
      return;
    }
    if (error instanceof ClientError) this.error.value = error;
    this.status.value = error instanceof ClientError ? 'failed' : 'reconnecting';
  }
}
