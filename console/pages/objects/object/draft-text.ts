import { isMap, isNode, isSeq, parseDocument, stringify, type Document } from 'yaml';

import type { EditorLanguage, Marked } from '../../../ui/editor/code-editor.ts';
import { isJsonObject, type JsonObject } from './editable.ts';

/** The longest text that is parsed while typing, in characters. */
const parsedMax = 2_000_000;

/** An object that was read from a text, or the problems in the text. */
export type ReadText =
  | { readonly ok: true; readonly value: JsonObject; locate(pointer: string): { from: number; to: number } }
  | { readonly ok: false; readonly marks: readonly Marked[] };

export function textOf(value: JsonObject, language: EditorLanguage): string {
  if (language === 'json') return `${JSON.stringify(value, null, 2)}\n`;
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** Reads a text as YAML. JSON is a part of YAML. */
export function readText(text: string, messages: { readonly tooLong: string; readonly noObject: string }): ReadText {
  if (text.length > parsedMax) return { ok: false, marks: [{ from: 0, to: 0, message: messages.tooLong }] };
  const document = parseDocument(text, { schema: 'core' });
  const marks = document.errors.map(({ pos: [from, to], message }) => ({
    from,
    to,
    message: message.split('\n', 1)[0]?.replace(/ at line \d+, column \d+:?$/u, '') ?? message,
  }));
  if (marks.length > 0) return { ok: false, marks };
  const value = valueOf(document);
  if (value instanceof Error) return { ok: false, marks: [{ from: 0, to: text.length, message: value.message }] };
  if (!isJsonObject(value)) return { ok: false, marks: [{ from: 0, to: text.length, message: messages.noObject }] };
  return { ok: true, value, locate: (pointer) => placeOf(document, pointer) };
}

/** Returns the value of a document, or an error if aliases would multiply the value beyond a limit. */
function valueOf(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Returns the place of the value at a JSON pointer, or of the nearest containing value. */
function placeOf(document: Document, pointer: string): { from: number; to: number } {
  let node: unknown = document.contents;
  let range = { from: 0, to: 0 };
  for (const token of pointer.split('/').slice(1)) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => String(isNode(key) ? key.toJSON() : key) === name);
      if (pair === undefined) break;
      range = rangeOf(pair.key) ?? range;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(name)];
      if (node === undefined) break;
    } else break;
    if (!isMap(node) && !isSeq(node)) range = rangeOf(node) ?? range;
  }
  return range;
}

function rangeOf(node: unknown): { from: number; to: number } | undefined {
  if (!isNode(node) || node.range === undefined || node.range === null) return undefined;
  const [from, to] = node.range;
  return { from, to };
}
