import { onScopeDispose, watch } from 'vue';

import type { ShownTable } from '../table/shown-table.ts';
import { chosenMax, type RowSelection } from './row-selection.ts';

export type RowChoice = {
  /** Adds or removes a row. */
  toggle(index: number): void;
  /** Adds the rows from the last toggled row to this row. */
  extend(index: number): Promise<void>;
};

/** Chooses rows of a table by their indexes. */
export function useRowChoice(table: () => ShownTable, selection: () => RowSelection | undefined): RowChoice {
  let anchor = 0;
  let reading = new AbortController();
  const stop = (): void => {
    reading.abort();
  };
  watch(table, () => {
    stop();
    anchor = 0;
  });
  onScopeDispose(stop);
  return {
    toggle: (index) => {
      const row = table().rowAt(index);
      const chosen = selection();
      if (row === undefined || chosen === undefined) return;
      anchor = index;
      if (chosen.has(row)) chosen.remove([row.object.metadata.uid]);
      else chosen.add([row]);
    },
    extend: async (index) => {
      stop();
      reading = new AbortController();
      const { signal } = reading;
      const [first, last] = [Math.min(anchor, index), Math.max(anchor, index)];
      const range = { first: Math.max(first, last - chosenMax), last: Math.min(last, first + chosenMax) };
      const rows = await table().rowsBetween(range, signal);
      if (!signal.aborted) selection()?.add(rows);
    },
  };
}
