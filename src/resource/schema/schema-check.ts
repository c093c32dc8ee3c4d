import { messageOf } from '../../base/error-message.ts';
import { isObject } from '../../base/guards.ts';
import { schemaBytesMax, schemaPartsMax, schemaPropertiesMax } from '../../limits/objects.ts';
import { escapeToken } from '../../base/reference-token.ts';
import { patternProblem } from './safe-pattern.ts';

export type Schema = Readonly<Record<string, unknown>>;

export type CheckedSchema =
  /**
   * `schema` is a JSON copy without `$id`. `extensions`: the names of the `x-…` keywords in the schema, which the JSON
   * Schema validator must accept and ignore.
   */
  | { readonly ok: true; readonly schema: Schema; readonly extensions: ReadonlySet<string> }
  | { readonly ok: false; readonly problems: readonly string[] };

const dialect = 'https://json-schema.org/draft/2020-12/schema';
const platformMembers = ['apiVersion', 'kind', 'metadata'];

const keywordsWithSchema = new Set([
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'items',
  'unevaluatedItems',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'contentSchema',
]);
const keywordsWithSchemas = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const keywordsWithSchemasByName = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
]);

/**
 * Checks a schema for problems that a JSON Schema compiler does not report, for example its size, references to other
 * documents, and patterns that may take exponential time.
 */
export function checkSchema(input: unknown): CheckedSchema {
  return check(input, () => []);
}

/** Checks the schema of a type, which describes the objects of the type without apiVersion, kind and metadata. */
export function checkTypeSchema(input: unknown): CheckedSchema {
  return check(input, ({ type, properties }) => [
    ...(type === undefined || type === 'object'
      ? []
      : ['type: must be "object" at the top level: the schema describes members of objects, usually spec and status']),
    ...platformMembers
      .filter((member) => isObject(properties) && Object.hasOwn(properties, member))
      .map((member) => `properties.${member}: must not be declared: the platform defines this member`),
  ]);
}

function check(input: unknown, more: (schema: Schema) => readonly string[]): CheckedSchema {
  const copied = plainCopy(input);
  if (typeof copied === 'string') return { ok: false, problems: [copied] };
  const { $id: _id, ...schema } = copied;
  const found: Findings = { problems: [], extensions: new Set() };
  if (schema['$schema'] !== undefined && schema['$schema'] !== dialect)
    found.problems.push(`$schema: must be ${dialect}`);
  found.problems.push(...more(schema));
  walk(schema, found);
  return found.problems.length === 0
    ? { ok: true, schema, extensions: found.extensions }
    : { ok: false, problems: found.problems };
}

/**
 * Returns a JSON copy of the schema, or a problem as a text. Values that JSON cannot represent are refused instead of
 * being dropped, because a schema is stored and served as JSON.
 */
function plainCopy(input: unknown): Schema | string {
  if (!isObject(input)) return 'must be a JSON Schema object';
  let text: string;
  try {
    text = JSON.stringify(input, (member, value: unknown) => {
      if (typeof value === 'function' || typeof value === 'symbol' || value === undefined)
        throw new TypeError(`${JSON.stringify(member)} is ${typeof value}, which JSON cannot represent`);
      return value;
    });
  } catch (error) {
    return error instanceof Error ? `is not JSON: ${error.message.split('\n', 1)[0] ?? ''}` : 'is not JSON';
  }
  const size = Buffer.byteLength(text);
  if (size > schemaBytesMax) return `must be at most ${String(schemaBytesMax)} bytes as JSON, is ${String(size)}`;
  const copy: unknown = JSON.parse(text);
  return isObject(copy) ? copy : 'must be a JSON Schema object';
}

type Findings = {
  readonly problems: string[];
  readonly extensions: Set<string>;
};

function walk(root: Schema, found: Findings): void {
  let parts = 0;
  for (const { at, schema } of subschemas(root)) {
    parts += 1;
    checkWidth(schema, at, found);
    checkReferences(schema, at, found);
    checkPatterns(schema, at, found);
    for (const keyword of Object.keys(schema)) if (keyword.startsWith('x-')) found.extensions.add(keyword);
  }
  if (parts > schemaPartsMax)
    found.problems.push(`must have at most ${String(schemaPartsMax)} schemas in all places, has ${String(parts)}`);
}

function checkWidth(schema: Schema, at: string, found: Findings): void {
  for (const keyword of keywordsWithSchemasByName) {
    const named = schema[keyword];
    const count = isObject(named) ? Object.keys(named).length : 0;
    if (count > schemaPropertiesMax)
      found.problems.push(
        `${at}${keyword}: must have at most ${String(schemaPropertiesMax)} members, has ${String(count)}; ` +
          'an object with additionalProperties has any number of members of one schema',
      );
  }
}

/** A schema that another schema contains, or the outermost schema itself. */
export type Subschema = {
  /**
   * The path of the schema in messages, followed by a dot, such as `properties.spec.`; empty for the outermost schema.
   */
  readonly at: string;
  /** The JSON pointer of the schema; empty for the outermost schema. */
  readonly pointer: string;
  readonly schema: Schema;
};

/** Yields a schema and all schemas within the schema. */
export function* subschemas(schema: unknown, at = '', pointer = ''): Generator<Subschema> {
  if (!isObject(schema)) return;
  yield { at, pointer, schema };
  for (const [keyword, value] of Object.entries(schema)) {
    const place = `${at}${keyword}`;
    const below = `${pointer}/${keyword}`;
    if (keywordsWithSchema.has(keyword)) yield* subschemas(value, `${place}.`, below);
    else if (keywordsWithSchemas.has(keyword) && Array.isArray(value))
      for (const [index, inner] of value.entries())
        yield* subschemas(inner, `${place}[${String(index)}].`, `${below}/${String(index)}`);
    else if (keywordsWithSchemasByName.has(keyword) && isObject(value))
      for (const [name, inner] of Object.entries(value))
        yield* subschemas(inner, `${place}.${name}.`, `${below}/${escapeToken(name)}`);
  }
}

/**
 * Returns a copy of a schema in which `change` is applied to the schema and then to every schema within the schema.
 * Schemas that are nested more than `depthMax` levels deep become `true`.
 */
export function mapSubschemas(schema: unknown, change: (schema: Schema) => Schema, depthMax: number): unknown {
  if (!isObject(schema)) return schema;
  if (depthMax < 0) return true;
  const map = (inner: unknown): unknown => mapSubschemas(inner, change, depthMax - 1);
  const changed = Object.entries(change(schema)).map(([keyword, value]): [string, unknown] => {
    if (keywordsWithSchema.has(keyword)) return [keyword, map(value)];
    if (keywordsWithSchemas.has(keyword) && Array.isArray(value)) return [keyword, value.map(map)];
    if (!keywordsWithSchemasByName.has(keyword) || !isObject(value)) return [keyword, value];
    return [keyword, Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, map(inner)]))];
  });
  return Object.fromEntries(changed);
}

function checkReferences(schema: Schema, at: string, found: Findings): void {
  for (const keyword of ['$ref', '$dynamicRef']) {
    const target = schema[keyword];
    if (typeof target === 'string' && !target.startsWith('#')) {
      found.problems.push(
        `${at}${keyword}: must stay inside the schema (begin with "#"), is ${JSON.stringify(target)}`,
      );
    }
  }
  if (at !== '' && schema['$id'] !== undefined)
    found.problems.push(`${at}$id: is allowed at the top level of a schema only`);
}

function checkPatterns(schema: Schema, at: string, found: Findings): void {
  const { pattern, patternProperties } = schema;
  const patterns = isObject(patternProperties)
    ? Object.keys(patternProperties).map((key) => [key, `${at}patternProperties`] as const)
    : [];
  for (const [source, place] of typeof pattern === 'string'
    ? [[pattern, `${at}pattern`] as const, ...patterns]
    : patterns) {
    const problem = problemOf(source);
    if (problem !== undefined) found.problems.push(`${place}: ${JSON.stringify(source)} ${problem}`);
  }
}

function problemOf(pattern: string): string | undefined {
  try {
    new RegExp(pattern, 'u');
  } catch (error) {
    return `is not a regular expression: ${messageOf(error)}`;
  }
  return patternProblem(pattern);
}
