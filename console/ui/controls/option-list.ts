/** An option with its text. The value `''` means that no value is chosen. */
export type Option = { readonly value: string; readonly label: string };

/** The number of options that are drawn before and after the visible ones, so that scrolling shows no gap. */
const marginRows = 4;

/** Returns the options with a label that contains the text. Labels that begin with the text are first. */
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

/**
 * Returns the indexes of the options to draw: the visible options, a few options before and after them, and the active
 * option.
 */
export function windowOf(
  count: number,
  { first, rows, active }: { readonly first: number; readonly rows: number; readonly active: number },
): readonly number[] {
  const from = Math.max(0, Math.min(first, count - rows) - marginRows);
  const to = Math.min(count, first + rows + marginRows);
  const shown = Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
  return active >= 0 && active < count && (active < from || active >= to) ? [...shown, active] : shown;
}
