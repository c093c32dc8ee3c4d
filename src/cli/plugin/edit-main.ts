/** A member of the plugin's definition that is a list of parts. */
export type DefinitionMember = 'types' | 'controllers' | 'reconcilers';

export type MainAddition = {
  /** The constant to import and to add to the list. */
  readonly name: string;
  /** The module that exports the constant, relative to the edited file. */
  readonly from: string;
  readonly member: DefinitionMember;
};

/**
 * Adds a constant to a list of the call `definePlugin({…})` in the text of a plugin's module, and imports the constant.
 * Returns undefined if the text cannot be edited safely, for example because the name is in use.
 */
export function editMain(text: string, { name, from, member }: MainAddition): string | undefined {
  if (new RegExp(`(?<![\\w$])${name}(?![\\w$])`, 'u').test(text.replaceAll(unused, ''))) return undefined;
  const calls = [...text.matchAll(/\bdefinePlugin\(\s*\{/gu)];
  const [call] = calls;
  if (call === undefined || calls.length !== 1) return undefined;
  const start = call.index + call[0].length;
  const body = text.slice(start, endOfBlock(text, start));
  const edited = withMember(body, member, name);
  if (edited === undefined) return undefined;
  const whole = text.slice(0, start) + edited + text.slice(start + body.length);
  return withImport(whole, `import { ${name} } from '${from}';`);
}

/**
 * Returns the members of the definition with the name added to the list `member`; undefined if the list cannot be
 * edited safely. `body` is the text between the braces.
 */
function withMember(body: string, member: DefinitionMember, name: string): string | undefined {
  const found = [...body.matchAll(new RegExp(`(?<![\\w$.])${member}(?![\\w$])`, 'gu'))];
  if (found.length === 0) return body.includes('...') ? undefined : withNewMember(body, member, name);
  const [first] = found;
  if (first === undefined || found.length !== 1 || depthAt(body, first.index) !== 0) return undefined;
  const list = /^\s*:\s*\[([\w$\s,]*)\]/u.exec(body.slice(first.index + member.length));
  if (list?.[1] === undefined) return undefined;
  const end = first.index + member.length + list[0].length - 1;
  const begin = end - list[1].length;
  return body.slice(0, begin) + withEntry(list[1], name) + body.slice(end);
}

function withNewMember(body: string, member: DefinitionMember, name: string): string {
  const indent = /^\n(\s+)/u.exec(body)?.[1];
  if (indent !== undefined) return `\n${indent}${member}: [${name}],${body}`;
  return body.trim() === '' ? ` ${member}: [${name}] ` : ` ${member}: [${name}],${body}`;
}

function withEntry(list: string, name: string): string {
  const entries = list.trimEnd().replace(/,$/u, '');
  if (entries.trim() === '') return name;
  const indent = /\n([ \t]+)[\w$]+,?\s*$/u.exec(list)?.[1];
  const after = /\s*$/u.exec(list)?.[0] ?? '';
  return indent === undefined ? `${entries}, ${name}` : `${entries},\n${indent}${name},${after}`;
}

/** Adds the import after the last import; without imports, at the start of the text. */
function withImport(text: string, line: string): string {
  const last = [...text.matchAll(/^(?:import\b[^;'"]*|import\s*)['"][^'"\n]+['"];?[ \t]*\n/gmu)].at(-1);
  if (last === undefined) return `${line}\n\n${text}`;
  const at = last.index + last[0].length;
  return `${text.slice(0, at)}${line}\n${text.slice(at)}`;
}

/** Strings, templates and comments. Brackets in these parts do not structure the code. */
const opaque = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\/[^\n]*|\/\*[^]*?\*\//gu;

/**
 * Strings and comments. A name in them does not count as used. Templates are not included, because an expression in a
 * template may use a name.
 */
const unused = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\/\/[^\n]*|\/\*[^]*?\*\//gu;

/**
 * Returns the offset of the brace that closes the block which begins at `start`; the length of the text if the block is
 * not closed.
 */
function endOfBlock(text: string, start: number): number {
  const code = blanked(text);
  let depth = 0;
  for (let at = start; at < code.length; at += 1) {
    if ('([{'.includes(code.charAt(at))) depth += 1;
    if (!')]}'.includes(code.charAt(at))) continue;
    if (depth === 0) return at;
    depth -= 1;
  }
  return text.length;
}

/** Returns the number of brackets that are open at this offset; -1 in a string or a comment. */
function depthAt(body: string, offset: number): number {
  const code = blanked(body);
  if (code.charAt(offset) === ' ') return -1;
  const before = code.slice(0, offset);
  return (before.match(/[([{]/gu)?.length ?? 0) - (before.match(/[)\]}]/gu)?.length ?? 0);
}

function blanked(text: string): string {
  return text.replaceAll(opaque, (part) => ' '.repeat(part.length));
}
