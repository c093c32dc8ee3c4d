import type { Ref } from 'vue';

import type { Column, Row } from './table-answer.ts';

/** The interval in milliseconds at which rows without a watch are read. */
export const pollMs = 5_000;

/**
 * `paused`: the window is hidden, so no changes are followed. `fixed`: the rows have one position of the log. `polled`:
 * the rows cannot be watched, so they are read at intervals.
 */
export type TableStatus = 'loading' | 'live' | 'polled' | 'fixed' | 'reconnecting' | 'paused' | 'failed';

export type RowRange = { readonly first: number; readonly last: number };

/** The rows that a table shows. */
export type ShownTable = {
  readonly columns: Ref<readonly Column[]>;
  /** The number of all objects that match. */
  readonly total: Ref<number>;
  /** The number of lines of the table. */
  readonly length: Ref<number>;
  readonly status: Ref<TableStatus>;
  readonly error: Ref<unknown>;
  /**
   * A number that increases with each change of the rows. `rowAt` is not reactive, so a reader of rows must also read
   * `revision`.
   */
  readonly revision: Ref<number>;
  /** Called with the uids of rows that were removed, or no longer match. */
  onRemoved: (uids: readonly string[]) => void;
  /** Returns a row; undefined while it is being read. */
  rowAt(index: number): Row | undefined;
  /** Returns the rows from `first` to `last`. Reads the rows that are not in memory. */
  rowsBetween(range: RowRange, signal: AbortSignal): Promise<readonly Row[]>;
  rowsInMemory(): Iterable<Row>;
  /** Sets the visible rows. Reads those that are not in memory. */
  show(range: RowRange): void;
  /** Stops following while the window is hidden. */
  pause(): void;
  /** Reads everything again, for example because the window is visible again. */
  resume(): Promise<void>;
  /** Shows the effects of the user's own writes. A live table shows them without this call. */
  refresh(): void;
  open(): Promise<void>;
  close(): void;
};
