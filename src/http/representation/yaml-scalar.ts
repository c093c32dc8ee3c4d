/**
 * Converts a JSON string, number or literal to a YAML scalar. `indent` is the indentation of a block scalar, in spaces.
 */
export function yamlScalar(json: string, indent: number): string {
  if (!json.startsWith('"')) return json;
  const text = String(JSON.parse(json));
  if (isPlain(text)) return text;
  return isBlock(text, indent) ? block(text, indent) : quoted(json);
}

/** Converts a JSON string to a YAML key on one line. */
export function yamlKey(json: string): string {
  const text = String(JSON.parse(json));
  return isPlain(text) ? text : quoted(json);
}

const plainForm = /^[A-Za-z_/](?:[\w./@+()-]|:(?=[\w/])| (?=[\w./(]))*$/u;
/** Words that YAML 1.2 or YAML 1.1 does not read as strings. Many readers implement YAML 1.1. */
const otherWords = /^(?:true|false|null|yes|no|on|off|y|n|e[-+]?\d[\d_]*)$/iu;

function isPlain(text: string): boolean {
  return plainForm.test(text) && !otherWords.test(text);
}

/** Characters that JSON allows, but a YAML reader may refuse or read as the end of a line. */
const notPrintable = /[\u007f-\u009f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]/gu;

/** Converts a JSON string to a quoted scalar. JSON's escapes are valid in YAML. */
export function quoted(json: string): string {
  return json.replaceAll(notPrintable, escaped);
}

/**
 * The escapes of at most 2,086 characters, cached because a string may have hundreds of thousands of such characters.
 */
const escapes = new Map<string, string>();

function escaped(character: string): string {
  const known = escapes.get(character);
  if (known !== undefined) return known;
  const made = `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  escapes.set(character, made);
  return made;
}

const control = /[\u0000-\u0008\u000b-\u001f]/u;

/** The maximum length of a block scalar, and of all its indentation, in UTF-16 code units. */
const blockTextMax = 65_536;

/**
 * Returns whether to write the text as a block scalar. A text with a line that begins with white space is quoted,
 * because a reader might not restore the white space.
 */
function isBlock(text: string, indent: number): boolean {
  // The indentation of many short lines could be many times their length.
  if (text.length > blockTextMax || text.split('\n').length * indent > blockTextMax) return false;
  if (!text.includes('\n') || control.test(text) || /^\s|\n[ \t]/u.test(text)) return false;
  notPrintable.lastIndex = 0;
  return !notPrintable.test(text);
}

function block(text: string, indent: number): string {
  const end = text.endsWith('\n\n') ? '+' : text.endsWith('\n') ? '' : '-';
  const body = text.endsWith('\n') ? text.slice(0, -1) : text;
  const pad = ' '.repeat(indent);
  return `|${end}\n${body
    .split('\n')
    .map((line) => (line === '' ? '' : `${pad}${line}`))
    .join('\n')}`;
}
