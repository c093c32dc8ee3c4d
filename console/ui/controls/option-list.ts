/** A value to choose, with its text. The value `''` stands for no value. */
export type Option = { readonly value: string; readonly label: string };

/** The options beside those in view that are drawn too, so that a scroll shows no gap. */
const marginRows = 4;

/** Returns the options with a text in their label; those that begin with it are first. */
export function matchingOptions(options: readonly Option[], text: string): readonly Option[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return options;
  const beginning: Option[] = [];
  const containing: Option[] = [];
  for (const option of options) {
    const at = option.value === '' ? -1 : option.label.toLowerCase().indexOf(wanted);
    if (at === 0) beginning.push(option);
    else if (at > 0) containing.push(option);
  }
  return [...beginning, ...containing];
}

/** Returns the indexes to draw of a list: those in view, some beside them, and the active one. */
export function windowOf(
  count: number,
  { first, rows, active }: { readonly first: number; readonly rows: number; readonly active: number },
): readonly number[] {
  const from = Math.max(0, Math.min(first, count - rows) - marginRows);
  const to = Math.min(count, first + rows + marginRows);
  const shown = Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
  return active >= 0 && active < count && (active < from || active >= to) ? [...shown, active] : shown;
}
