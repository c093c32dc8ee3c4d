export type Format = 'bold' | 'italic' | 'heading' | 'link' | 'list' | 'numbers' | 'quote' | 'code';

/** A replacement of the characters from `from` to `to`. `select` is the new selection, relative to `from`. */
export type Replacement = {
  readonly from: number;
  readonly to: number;
  readonly text: string;
  readonly select: readonly [from: number, to: number];
};

const around: Partial<Record<Format, readonly [string, string]>> = {
  bold: ['**', '**'],
  italic: ['*', '*'],
  link: ['[', '](https://)'],
  code: ['`', '`'],
};
const before: Partial<Record<Format, (line: number) => string>> = {
  heading: () => '## ',
  list: () => '- ',
  numbers: (line) => `${String(line + 1)}. `,
  quote: () => '> ',
};

/**
 * Returns the replacement that formats the selection in Markdown, or that removes the format from a formatted
 * selection.
 */
export function formatted(text: string, [from, to]: readonly [number, number], format: Format): Replacement {
  const marks = around[format];
  if (marks !== undefined) return enclosed(text.slice(from, to), from, marks);
  const start = text.lastIndexOf('\n', from - 1) + 1;
  const end = text.indexOf('\n', to);
  const whole = { from: start, to: end === -1 ? text.length : end };
  const lines = text.slice(whole.from, whole.to).split('\n');
  const prefix = before[format] ?? (() => '');
  const isFormatted = lines.every((line, index) => line.startsWith(prefix(index)));
  const changed = lines
    .map((line, index) => (isFormatted ? line.slice(prefix(index).length) : prefix(index) + line))
    .join('\n');
  return { ...whole, text: changed, select: [changed.length, changed.length] };
}

function enclosed(selected: string, from: number, [open, close]: readonly [string, string]): Replacement {
  const to = from + selected.length;
  const isFormatted =
    selected.length >= open.length + close.length && selected.startsWith(open) && selected.endsWith(close);
  const inner = isFormatted ? selected.slice(open.length, selected.length - close.length) : selected;
  if (isFormatted) return { from, to, text: inner, select: [0, inner.length] };
  return { from, to, text: open + inner + close, select: [open.length, open.length + inner.length] };
}
