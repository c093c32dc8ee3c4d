/**
 * Escapes control characters and changes of text direction, because a terminal would interpret them in untrusted text.
 */
export function printable(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Returns a table as text. Columns are separated by two spaces, and each column is as wide as its widest cell. An empty
 * cell becomes a dash.
 */
export function textTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const shown = (cell: string): string => (cell === '' ? '-' : printable(cell));
  const cells = [headings, ...rows.map((row) => row.map(shown))];
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => lengthOf(row[column] ?? ''))));
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - lengthOf(cell)))
      .join('  ')
      .trimEnd(),
  );
  return lines.map((line) => `${line}\n`).join('');
}

function lengthOf(text: string): number {
  return Array.from(text).length;
}

const pluralOf: Readonly<Record<string, string>> = { leaf: 'leaves' };

/** Returns a number with a noun: `1 event`, `2,000 events`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : (pluralOf[noun] ?? `${noun}s`)}`;
}
