import { printable } from '../text-table.ts';

const columns = 120;

/**
 * Returns the lines of a documentation comment with this text; no lines for a blank text. The text is not trusted.
 * After the escaping, the text can neither end the comment nor begin a line with a compiler directive.
 */
export function docComment(text: string, indent: string): readonly string[] {
  const width = columns - indent.length - ' * '.length;
  const lines = text
    .split(/\r\n|[\n\r]/u)
    .flatMap((line) => wrapped(printable(line.replaceAll(/[\t\ufeff]/gu, ' ')).trim(), width))
    .map((line) => line.replaceAll('*/', '*\\/').replace(/^@/u, '\\@'));
  while (lines[0] === '') lines.shift();
  while (lines.at(-1) === '') lines.pop();
  const [only = ''] = lines;
  if (lines.length === 0) return [];
  if (lines.length === 1 && `${indent}/** ${only} */`.length <= columns && !only.endsWith('*'))
    return [`${indent}/** ${only} */`];
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`];
}

function wrapped(line: string, width: number): readonly string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(/ +/u)) {
    if (current !== '' && current.length + 1 + word.length > width) {
      lines.push(current);
      current = word;
    } else current = current === '' ? word : `${current} ${word}`;
  }
  return [...lines, current];
}
