import { ClientError, type RemoteClient } from 'ledgerplane/client';
import { shallowRef, type Ref } from 'vue';

import { after } from '../../../server/browser-clock.ts';
import type { ServedType } from '../../../server/served-types.ts';
import { pageSize, RowPages } from './row-pages.ts';
import { pollMs, type RowRange, type ShownTable, type TableStatus } from './shown-table.ts';
import { readRows, tableForm, type Column, type Row, type TableAnswer, type TableQuery } from './table-answer.ts';

type Change = { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: TableAnswer };

/** The minimum interval, in milliseconds, between two reads of the visible rows because of changes. */
const rereadMs = 700;
/**
 * The minimum interval, in milliseconds, between two reads during a drag of the scroll bar, because rows that were
 * passed are no longer needed.
 */
const scrollReadMs = 80;
/** The maximum number of changes that are applied in one frame. If there are more, the visible rows are read again. */
const appliedMax = 500;

/**
 * The rows of a list of any length, which follow changes. Only the visible rows and some rows beside them are in
 * memory. A change of a row in memory is shown with the next frame. Rows that are added, removed or moved cause a read
 * of the visible rows, at most once in `rereadMs`.
 */
export class LiveTable implements ShownTable {
  readonly columns: Ref<readonly Column[]> = shallowRef([]);
  readonly total: Ref<number> = shallowRef(0);
  /** The table has one line for each object. */
  readonly length: Ref<number> = this.total;
  readonly status: Ref<TableStatus> = shallowRef('loading');
  readonly error: Ref<unknown> = shallowRef();
  readonly revision: Ref<number> = shallowRef(0);
  onRemoved: (uids: readonly string[]) => void = () => undefined;
  readonly #client: RemoteClient;
  readonly #type: ServedType;
  readonly #query: TableQuery;
  readonly #isWatched: boolean;
  #cancelPoll = (): void => undefined;
  readonly #rows = new RowPages();
  readonly #reading = new Map<number, AbortController>();
  #visible: RowRange = { first: 0, last: pageSize - 1 };
  #watching: AbortController | undefined;
  #changes: Change[] = [];
  #overflow = 0;
  #isFrameDue = false;
  #isReadDue = false;
  #isScrolling = false;
  #isClosed = false;

  /** `isWatched`: whether the user may watch the objects. Otherwise, the rows are read at intervals. */
  constructor(
    client: RemoteClient,
    type: ServedType,
    { isWatched, ...query }: TableQuery & { readonly isWatched: boolean },
  ) {
    this.#client = client;
    this.#type = type;
    this.#query = query;
    this.#isWatched = isWatched;
  }

  rowAt(index: number): Row | undefined {
    return this.#rows.at(index);
  }

  async rowsBetween({ first, last }: RowRange, signal: AbortSignal): Promise<readonly Row[]> {
    const rows: Row[] = [];
    for (let page = Math.floor(first / pageSize); page * pageSize <= last; page += 1) {
      const query = { ...this.#query, page, size: pageSize, signal };
      const read = this.#rows.page(page) ?? (await readRows(this.#client, this.#type, query)).rows;
      rows.push(...read.slice(Math.max(0, first - page * pageSize), last - page * pageSize + 1));
    }
    return rows;
  }

  rowsInMemory(): Iterable<Row> {
    return this.#rows.all();
  }

  /** Reads the first rows, and then follows the changes. */
  async open(): Promise<void> {
    if (this.#isClosed) return;
    this.error.value = undefined;
    const position = await this.#readPage(Math.floor(this.#visible.first / pageSize));
    if (position === undefined) return;
    if (this.#isWatched) void this.#follow(position);
    else this.#poll();
  }

  show(range: RowRange): void {
    this.#visible = range;
    if (this.#isScrolling) return;
    this.#readShown();
    this.#isScrolling = true;
    after(scrollReadMs, () => {
      this.#isScrolling = false;
      this.#readShown();
    });
  }

  #readShown(): void {
    if (this.#isClosed || this.status.value === 'loading' || this.status.value === 'failed') return;
    this.#readVisible();
  }

  pause(): void {
    this.#cancelPoll();
    this.#watching?.abort();
    this.#watching = undefined;
    this.#changes = [];
    if (!this.#isClosed && this.status.value !== 'failed') this.status.value = 'paused';
  }

  async resume(): Promise<void> {
    this.#rows.outdate();
    await this.open();
  }

  refresh(): void {
    // With a watch, no further read is needed.
    if (!this.#isWatched) void this.resume();
  }

  close(): void {
    this.#isClosed = true;
    this.pause();
    for (const reading of this.#reading.values()) reading.abort();
    this.#rows.clear();
  }

  #readVisible(): void {
    const first = Math.floor(this.#visible.first / pageSize);
    const last = Math.floor(
      Math.max(this.#visible.first, Math.min(this.#visible.last, this.total.value - 1)) / pageSize,
    );
    // Aborts reads of rows that are no longer visible, because they would delay reads of visible rows.
    for (const [page, reading] of this.#reading) if (page < first || page > last) reading.abort();
    for (let page = first; page <= last; page += 1)
      if (this.#rows.lacks(page) && !this.#reading.has(page)) void this.#readPage(page);
  }

  /** Returns the position at which the rows were read; undefined if the read failed. */
  async #readPage(page: number): Promise<string | undefined> {
    const reading = new AbortController();
    this.#reading.set(page, reading);
    const { signal } = reading;
    try {
      const answer = await readRows(this.#client, this.#type, { ...this.#query, page, size: pageSize, signal });
      if (answer.columnDefinitions !== null && this.columns.value.length === 0)
        this.columns.value = answer.columnDefinitions;
      this.#rows.put(page, answer.rows);
      this.total.value = answer.total ?? answer.rows.length;
      this.revision.value += 1;
      return answer.metadata.resourceVersion;
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
      return undefined;
    } finally {
      if (this.#reading.get(page) === reading) this.#reading.delete(page);
    }
  }

  #fail(error: unknown): void {
    // After a lost connection, `resume` is called when the server is reachable again.
    if (error instanceof ClientError) this.error.value = error;
    this.status.value = error instanceof ClientError ? 'failed' : 'reconnecting';
  }

  #poll(): void {
    this.status.value = 'polled';
    this.#readVisible();
    this.#cancelPoll();
    this.#cancelPoll = after(pollMs, () => void this.resume());
  }

  async #follow(resourceVersion: string): Promise<void> {
    this.#watching?.abort();
    const watching = new AbortController();
    this.#watching = watching;
    const { signal } = watching;
    this.status.value = 'live';
    this.#readVisible();
    const onRetry = (): void => {
      if (!signal.aborted) this.status.value = 'reconnecting';
    };
    try {
      const { labelSelector, fieldSelector } = this.#query;
      const options = { labelSelector, fieldSelector, from: { resourceVersion }, accept: tableForm, onRetry, signal };
      for await (const event of this.#client.watch<TableAnswer>(this.#type, options)) this.#note(event);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ClientError && error.status === 410) await this.resume();
      else this.#fail(error);
    }
  }

  #note(change: Change): void {
    if (this.status.value === 'reconnecting') this.status.value = 'live';
    if (this.#changes.length < appliedMax) this.#changes.push(change);
    else this.#overflow += change.type === 'ADDED' ? 1 : change.type === 'DELETED' ? -1 : 0;
    if (this.#isFrameDue) return;
    this.#isFrameDue = true;
    requestAnimationFrame(() => {
      this.#isFrameDue = false;
      this.#apply();
    });
  }

  #apply(): void {
    const changes = this.#changes;
    if (this.#isClosed) return;
    this.#changes = [];
    let moved = this.#overflow !== 0 || changes.length === appliedMax || this.#query.sort !== undefined;
    let total = this.total.value + this.#overflow;
    this.#overflow = 0;
    const removed: string[] = [];
    for (const { type, object } of changes) {
      const [row] = object.rows;
      if (type === 'MODIFIED' && row !== undefined) this.#rows.replace(row);
      else {
        moved = true;
        total += type === 'ADDED' ? 1 : -1;
        if (type === 'DELETED' && row !== undefined) removed.push(row.object.metadata.uid);
      }
    }
    if (removed.length > 0) this.onRemoved(removed);
    this.total.value = Math.max(0, total);
    this.revision.value += 1;
    if (moved) this.#rereadSoon();
  }

  #rereadSoon(): void {
    if (this.#isReadDue) return;
    this.#isReadDue = true;
    after(rereadMs, () => {
      this.#isReadDue = false;
      if (this.#isClosed || this.status.value === 'paused') return;
      this.#rows.outdate();
      this.#readVisible();
    });
  }
}
