import { parseAllDocuments } from 'yaml';

import { messageOf } from '../../base/error-message.ts';
import { yamlAliasesMax } from '../../limits/plugins.ts';
import { jsonDepthMax } from '../../limits/requests.ts';
import type { JsonValue } from '../../resource/object/object.ts';

export type YamlDocuments =
  { readonly ok: true; readonly documents: readonly JsonValue[] } | { readonly ok: false; readonly problem: string };

/**
 * Parses the documents of a plugin's file. Replaces `${domain}`, and drops empty documents. Refuses values that JSON
 * cannot represent, repeated keys, deep nesting and too many aliases. YAML tags can create only plain values.
 */
export function yamlDocuments(text: string, domain: string): YamlDocuments {
  const values: JsonValue[] = [];
  try {
    const parsed = parseAllDocuments(text.replaceAll('${domain}', domain), {
      version: '1.2',
      schema: 'core',
      uniqueKeys: true,
      logLevel: 'silent',
    });
    for (const document of Array.isArray(parsed) ? parsed : []) {
      const [problem] = [...document.errors, ...document.warnings];
      if (problem !== undefined) return { ok: false, problem: withAdvice(firstLine(problem.message), problem.code) };
      const value: unknown = document.toJS({ maxAliasCount: yamlAliasesMax });
      if (value === null || value === undefined) continue;
      if (!isJson(value, jsonDepthMax))
        return { ok: false, problem: 'contains values that JSON cannot represent, or nests too deeply' };
      values.push(value);
    }
  } catch (error) {
    return { ok: false, problem: firstLine(messageOf(error)) };
  }
  return { ok: true, documents: values };
}

function isJson(value: unknown, depth: number): value is JsonValue {
  if (depth === 0) return false;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return false;
  if (Array.isArray(value)) return value.every((element) => isJson(element, depth - 1));
  return Object.entries(value).every(([member, inner]) => member !== '__proto__' && isJson(inner, depth - 1));
}

/** Adds advice to a message of the parser. The message names a broken rule of YAML, and rarely the author's mistake. */
function withAdvice(problem: string, code: string): string {
  return code === 'DUPLICATE_KEY'
    ? problem
    : `${problem}; check the indentation, and the colons and quotes, of this line`;
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').replace(/:$/u, '');
}
