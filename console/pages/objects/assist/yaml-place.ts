import type { TextPlace } from './text-place.ts';

/** The dashes and the name at the beginning of a line. */
type Line = {
  readonly text: string;
  /** The offset of the line in the text. */
  readonly start: number;
  readonly dashes: readonly number[];
  /** The column of the name, or of the first other character. */
  readonly column: number;
  readonly name: string | undefined;
  /** The column after the colon. */
  readonly valueAt: number;
  readonly isBlank: boolean;
};

const nameForm = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([^\s"'#{}[\],&*!|>%@`?:][^#]*?))\s*:(?=\s|$)/u;

/**
 * Returns the place at an offset of a text in YAML's block style; undefined in comments, block scalars and flow style.
 */
export function yamlPlace(text: string, offset: number): TextPlace | undefined {
  const lines = linesOf(text);
  const index = lines.findLastIndex(({ start }) => start <= offset);
  const line = lines[index];
  if (line === undefined) return undefined;
  const caret = offset - line.start;
  if (/(?:^|\s)#/u.test(line.text.slice(0, caret))) return undefined;
  const column = line.isBlank ? caret : line.column;
  const around = pathTo(lines, index, column);
  if (around === undefined || caret < column) return undefined;
  const { name } = line;
  if (name !== undefined && caret >= line.valueAt && caret > column) {
    const word = valueWord(line, caret);
    const path = [...around, name];
    return word && { ...placeOf(line, word), path, kind: 'value', present: new Set(), hasColon: false, column };
  }
  return {
    ...placeOf(line, nameWord(line, caret, column)),
    path: around,
    kind: line.dashes.length > 0 && name === undefined ? 'either' : 'key',
    present: siblings(lines, index, column),
    hasColon: name !== undefined,
    column,
  };
}

function placeOf({ start, text }: Line, { from, to }: Word): Pick<TextPlace, 'from' | 'to' | 'word'> {
  return { from: start + from, to: start + to, word: text.slice(from, to).replace(/^["']|["']$/gu, '') };
}

function linesOf(text: string): readonly Line[] {
  let start = 0;
  return text.split('\n').map((raw) => {
    const line = lineOf(raw.endsWith('\r') ? raw.slice(0, -1) : raw, start);
    start += raw.length + 1;
    return line;
  });
}

function lineOf(text: string, start: number): Line {
  const dashes: number[] = [];
  let column = text.length - text.trimStart().length;
  while (text[column] === '-' && (text[column + 1] ?? ' ') === ' ') {
    dashes.push(column);
    column += 1;
    while (text[column] === ' ') column += 1;
  }
  const rest = text.slice(column);
  const [whole, double, single, plain] = nameForm.exec(rest) ?? [];
  const isBlank = rest === '' || rest.startsWith('#');
  const name = double ?? single?.replaceAll("''", "'") ?? plain;
  return { text, start, dashes, column, name, valueAt: column + (whole?.length ?? 0), isBlank };
}

/** Returns the members and items that contain a column of a line; undefined within a block scalar. */
function pathTo(lines: readonly Line[], index: number, column: number): readonly (string | number)[] | undefined {
  const path: (string | number)[] = [];
  let limit = column;
  let isItem = false;
  for (const [above, line] of lines
    .slice(0, index + 1)
    .reverse()
    .entries()) {
    if (isEmpty(line)) continue;
    const { name } = line;
    const isAround = line.column < limit || (isItem && line.column === limit);
    if (above > 0 && name !== undefined && isAround) {
      if (/^\s*[|>]/u.test(line.text.slice(line.valueAt))) return undefined;
      path.unshift(name);
      limit = line.column;
      isItem = false;
    }
    for (const dash of line.dashes.toReversed())
      if (dash < limit) {
        path.unshift(0);
        limit = dash;
        isItem = true;
      }
  }
  return path;
}

function isEmpty({ isBlank, dashes }: Line): boolean {
  return isBlank && dashes.length === 0;
}

/** Returns the names of the other members of the object with members at a column. */
function siblings(lines: readonly Line[], index: number, column: number): ReadonlySet<string> {
  const names = new Set<string>();
  /** Reads lines in one direction, up to the line at which the object begins or ends. */
  const read = (from: readonly Line[], isBegun: boolean): void => {
    for (const line of from.filter((each) => !isEmpty(each))) {
      const isOutside = (line.dashes[0] ?? line.column) < column;
      if (isOutside && isBegun) return;
      if (line.column === column && line.name !== undefined) names.add(line.name);
      if (isOutside) return;
    }
  };
  if ((lines[index]?.dashes[0] ?? column) >= column) read(lines.slice(0, index).reverse(), false);
  read(lines.slice(index + 1), true);
  return names;
}

type Word = { readonly from: number; readonly to: number };

function valueWord({ text, valueAt }: Line, caret: number): Word | undefined {
  const rest = text.slice(valueAt);
  const value = rest.replace(/(?:^|\s)#.*$/u, '').trimEnd();
  if (/^\s*[[{|>&*!]/u.test(value)) return undefined;
  const from = valueAt + (value.length - value.trimStart().length);
  return value.trim() === '' || caret < from
    ? { from: caret, to: caret }
    : { from, to: Math.max(caret, valueAt + value.length) };
}

function nameWord({ text, column: begins, name, valueAt, isBlank }: Line, caret: number, column: number): Word {
  if (isBlank) return { from: caret, to: caret };
  const end = name === undefined ? text.trimEnd().length : text.slice(0, valueAt).replace(/\s*:$/u, '').length;
  return { from: Math.min(begins, column), to: Math.max(end, caret) };
}
