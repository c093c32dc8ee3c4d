/** A fenced block of a Markdown text. */
export type Block = {
  readonly path: string;
  /** Of the opening fence, counted from 1. */
  readonly line: number;
  /** Empty when the fence names none. */
  readonly language: string;
  readonly text: string;
};

export function blocksOf(path: string, markdown: string): readonly Block[] {
  const blocks: Block[] = [];
  let open: { readonly line: number; readonly language: string; readonly lines: string[] } | undefined;
  for (const [index, line] of markdown.split('\n').entries()) {
    const fence = /^```(\S*)\s*$/u.exec(line);
    if (fence === null) {
      open?.lines.push(line);
    } else if (open === undefined) {
      open = { line: index + 1, language: fence[1] ?? '', lines: [] };
    } else {
      blocks.push({ path, line: open.line, language: open.language, text: open.lines.join('\n') });
      open = undefined;
    }
  }
  if (open !== undefined) throw new Error(`${path}:${open.line.toString()}: a fence is not closed`);
  return blocks;
}

/** The cells of every table row between the heading and the next heading, without the head and its rule. */
export function tableUnder(heading: string, markdown: string): readonly (readonly string[])[] {
  const start = markdown.indexOf(`\n${heading}\n`);
  if (start === -1) throw new Error(`there is no heading ${JSON.stringify(heading)}`);
  const section = markdown.slice(start + heading.length + 2).split(/^#+ /mu, 1)[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  const isRule = (line: string | undefined): boolean => line !== undefined && /^[|\s:-]+$/u.test(line);
  return rows
    .filter((line, index) => !isRule(line) && !isRule(rows[index + 1]))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** One command of a block, and the output shown after it; undefined where the block shows none. */
export type Step = { readonly line: number; readonly command: string; readonly shown: string | undefined };

/** More of it follows on the next line: its line is continued, or a quote is not closed yet. */
function isOpen(command: string | undefined): boolean {
  return command !== undefined && (command.endsWith('\\') || command.split("'").length % 2 === 0);
}

/** `console`: commands after `$ `, each followed by its output. Any other block is one command without output. */
export function stepsOf({ language, text, line }: Block): readonly Step[] {
  if (language !== 'console') return [{ line: line + 1, command: text, shown: undefined }];
  const steps: { line: number; command: string; shown: string[] }[] = [];
  for (const [index, row] of text.split('\n').entries()) {
    if (row.startsWith('$ ')) steps.push({ line: line + 1 + index, command: row.slice(2), shown: [] });
    else if (steps.at(-1)?.shown.length === 0 && isOpen(steps.at(-1)?.command))
      steps[steps.length - 1]!.command += `\n${row}`;
    else steps.at(-1)?.shown.push(row);
  }
  return steps.map(({ shown, ...step }) => ({ ...step, shown: shown.join('\n') }));
}
