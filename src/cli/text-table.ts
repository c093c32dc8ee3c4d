/**
 * What others wrote is shown on a terminal, which obeys what is not text: control characters are written as escapes, and so
 * are those that turn the direction of writing.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
}

/** Columns two spaces apart, each as wide as its widest cell; a cell that would be empty shows a dash. */
export function textTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [headings, ...rows.map((row) => row.map((cell) => cell === '' ? '-' : printable(cell)))];
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => lengthOf(row[column] ?? ''))));
  const lines = cells.map((row) => row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - lengthOf(cell))).join('  ').trimEnd());
  return lines.map((line) => `${line}\n`).join('');
}

function lengthOf(text: string): number {
  return Array.from(text).length;
}
