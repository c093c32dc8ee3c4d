import type { Ajv2020 } from 'ajv/dist/2020.js';

import { isObject } from '../../base/guards.ts';
import { otherWords } from './suggestions.ts';
import { valueAt } from '../object/json-pointer.ts';
import { unescapeToken } from '../../base/reference-token.ts';
import { subschemas, type Schema } from './schema-check.ts';
import { explain, shortJson } from './schema-violations.ts';

/**
 * Returns the problems of a schema, each with its location and, where possible, the value and the allowed values. The
 * compiler may find further problems, such as an anchor that does not exist.
 */
export function schemaProblems(ajv: Ajv2020, schema: Schema): readonly string[] {
  const problems: string[] = [];
  for (const { at, schema: inner } of subschemas(schema))
    problems.push(...wordProblems(ajv, inner, at), ...referenceProblems(schema, inner, at));
  if (ajv.validateSchema(schema) === true) return problems;
  const misplaced = explain(ajv.errors ?? []).map(
    ({ pointer, detail }) =>
      `${dotted(schema, pointer)}: ${typeProblem(schema, pointer) ?? `${detail}${found(schema, pointer)}`}`,
  );
  return [...problems, ...misplaced];
}

/** Returns problems for unknown keywords and formats. Any keyword that begins with `x-` is accepted. */
function wordProblems(ajv: Ajv2020, schema: Schema, at: string): readonly string[] {
  const keywords: Readonly<Record<string, unknown>> = ajv.RULES.keywords;
  const unknown = Object.keys(schema).filter((keyword) => !keyword.startsWith('x-') && keywords[keyword] === undefined);
  const problems = unknown.map(
    (keyword) => `${at}${keyword}: is not a keyword of JSON Schema${otherWords(keyword, Object.keys(keywords))}`,
  );
  const { format } = schema;
  if (typeof format === 'string' && ajv.formats[format] === undefined)
    problems.push(
      `${at}format: ${JSON.stringify(format)} is not a known format${otherWords(format, Object.keys(ajv.formats))}`,
    );
  return problems;
}

/** Returns a problem if the `$ref` of a schema does not resolve. Anchors are left to the compiler. */
function referenceProblems(root: Schema, { $ref }: Schema, at: string): readonly string[] {
  if (
    typeof $ref !== 'string' ||
    !$ref.startsWith('#/') ||
    valueAt(root, decodeURIComponent($ref.slice(1))) !== undefined
  )
    return [];
  const parent = $ref.slice(1, $ref.lastIndexOf('/'));
  const beside = valueAt(root, parent);
  return [
    `${at}$ref: ${JSON.stringify($ref)} does not resolve within the ` +
      `schema${isObject(beside) ? otherWords($ref.slice($ref.lastIndexOf('/') + 1), Object.keys(beside)) : ''}`,
  ];
}

const typeNames = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

/** Returns the problem of a misspelt value of `type`; undefined for any other problem. */
function typeProblem(root: unknown, pointer: string): string | undefined {
  const value = valueAt(root, pointer);
  if (!pointer.endsWith('/type') || typeof value !== 'string' || typeNames.includes(value)) return undefined;
  return `${JSON.stringify(value)} is not a type of JSON Schema${otherWords(value, typeNames)}`;
}

function found(root: unknown, pointer: string): string {
  const value = valueAt(root, pointer);
  return value === undefined ? '' : `, is ${shortJson(value)}`;
}

/** Returns the location in dotted form, such as `properties.spec.anyOf[0]`. */
function dotted(root: unknown, pointer: string): string {
  let place = '';
  let at = '';
  for (const segment of pointer.split('/').slice(1)) {
    place = Array.isArray(valueAt(root, at))
      ? `${place}[${segment}]`
      : `${place}${place === '' ? '' : '.'}${unescapeToken(segment)}`;
    at = `${at}/${segment}`;
  }
  return place === '' ? 'the schema' : place;
}
