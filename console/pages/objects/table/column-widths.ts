import { computed, shallowRef, watch, type ComputedRef } from 'vue';

import type { Cell, Column, Row } from './table-answer.ts';

type Place = { readonly column: Column; readonly place: number };

/**
 * The maximum width of a text column, in characters. Longer texts are cut; the page of the object shows the whole text.
 */
const widthMax = 64;
/** The minimum width of a text column that takes the rest of the table's width. */
const wideMin = 24;

/**
 * Returns the widths of the columns as a template of a grid. A column is as wide as the widest text that was ever
 * drawn, so that the widths do not change when the user scrolls back.
 */
export function useColumnWidths(
  columns: () => readonly Place[],
  rows: () => readonly { readonly row: Row | undefined }[],
): ComputedRef<readonly string[]> {
  const widest = shallowRef<ReadonlyMap<string, number>>(new Map());
  watch(
    [columns, rows],
    () => {
      const found = new Map(widest.value);
      for (const { column, place } of columns()) {
        const texts = rows().map(({ row }) => lengthOf(row?.cells[place]));
        found.set(column.name, Math.max(found.get(column.name) ?? column.name.length + 2, ...texts));
      }
      if ([...found].some(([name, width]) => width !== widest.value.get(name))) widest.value = found;
    },
    { immediate: true },
  );
  return computed(() => {
    const widths = columns().map(({ column, place }) => ({
      column,
      place,
      width: Math.min(widest.value.get(column.name) ?? 0, widthMax),
    }));
    const texts = widths.filter(({ column, place }) => place > 0 && column.type === 'string');
    const widestText = texts.toSorted((left, right) => right.width - left.width)[0];
    const filling = widestText !== undefined && widestText.width >= wideMin ? widestText.column : undefined;
    return widths.map(({ column, width }) => templateOf(column, width, column === filling));
  });
}

function templateOf({ type }: Column, width: number, isFilling: boolean): string {
  if (type === 'date') return 'minmax(96px, 150px)';
  const whole = `calc(${String(width)}ch + 24px)`;
  if (type === 'integer' || type === 'number') return `minmax(72px, ${whole})`;
  return `minmax(104px, ${isFilling ? '1fr' : whole})`;
}

/** Returns the width of a text in characters. An East Asian character counts twice. */
function lengthOf(cell: Cell | undefined): number {
  if (cell === null || cell === undefined) return 1;
  const text = String(cell).slice(0, widthMax);
  return text.length + (text.match(/[\u1100-\u115f\u2e80-\ud7ff\uf900-\ufaff\uff00-\uff60]/gu)?.length ?? 0);
}
