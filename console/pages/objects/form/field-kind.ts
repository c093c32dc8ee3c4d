import { resolved, type JsonSchema, type TypeSchema } from '../../../server/type-schema.ts';
import { isJsonObject, type Json } from '../object/editable.ts';
import { isList } from './pointer.ts';

/** `yaml`: the form has no control for the value, so the field contains YAML. */
export type FieldKind =
  | 'text'
  | 'long-text'
  | 'secret'
  | 'number'
  | 'choice'
  | 'date-time'
  | 'int-or-string'
  | 'array'
  | 'members'
  | 'map'
  | 'yaml';

export type Field = {
  readonly kind: FieldKind;
  /** The schema with resolved references and without alternatives. */
  readonly schema: JsonSchema;
  readonly isNullable: boolean;
};

type Components = TypeSchema['components'];

/** The maximum number of references that are followed. A cycle of references describes no value. */
const stepsMax = 16;
/** The maximum length of a text with a small control, in characters. */
const shortTextMax = 1_000;

/** Returns the kind of field for a value, according to the schema and the value. */
export function fieldOf(schema: JsonSchema, components: Components, value: Json | undefined): Field {
  const flat = flattened(schema, components, 0);
  const isNullable = flat.isNullable || flat.schema['nullable'] === true;
  const kind = flat.isMixed ? 'yaml' : kindOf(flat.schema, value);
  return { kind: suits(kind, value) ? kind : 'yaml', schema: flat.schema, isNullable };
}

function suits(kind: FieldKind, value: Json | undefined): boolean {
  if (value === undefined || value === null || kind === 'yaml') return true;
  if (kind === 'array') return isList(value);
  return kind === 'members' || kind === 'map' ? isJsonObject(value) : typeof value !== 'object';
}

function kindOf(schema: JsonSchema, value: Json | undefined): FieldKind {
  const { type, enum: values } = schema;
  if (isIntOrString(schema)) return 'int-or-string';
  if (Array.isArray(values))
    return values.every((each) => typeof each !== 'object' || each === null) ? 'choice' : 'yaml';
  switch (type) {
    case 'string':
      return textKindOf(schema, value);
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'choice';
    case 'array':
      return hasMembers(schema['items']) ? 'array' : 'yaml';
    default:
      if (hasMembers(schema['properties'])) return 'members';
      return hasMembers(schema['additionalProperties']) ? 'map' : 'yaml';
  }
}

function isIntOrString(schema: JsonSchema): boolean {
  return schema['x-kubernetes-int-or-string'] === true || schema['format'] === 'int-or-string';
}

function hasMembers(value: unknown): boolean {
  return isSchema(value) && Object.keys(value).length > 0;
}

function textKindOf({ format, maxLength, writeOnly }: JsonSchema, value: Json | undefined): FieldKind {
  const isTime = typeof value !== 'string' || value === '' || !Number.isNaN(Date.parse(value));
  if (format === 'date-time' && isTime) return 'date-time';
  const isLong = typeof maxLength === 'number' && maxLength > shortTextMax;
  if (format === 'password' || (writeOnly === true && !isLong)) return 'secret';
  return isLong || (typeof value === 'string' && /[\r\n]/u.test(value)) ? 'long-text' : 'text';
}

type Flat = { readonly schema: JsonSchema; readonly isNullable: boolean; readonly isMixed: boolean };

/** Resolves references, merges the schemas of `allOf`, and removes the alternative `null`. */
function flattened(schema: JsonSchema, components: Components, steps: number): Flat {
  if (steps > stepsMax) return { schema: {}, isNullable: false, isMixed: true };
  const target = resolved(schema, components);
  if (target !== schema) return flattened(target, components, steps + 1);
  const { allOf, anyOf, oneOf, ...own } = schema;
  const parts = schemasIn(allOf).map((part) => flattened(part, components, steps + 1));
  const joined = joinedOf([...parts.map((part) => part.schema), own]);
  const inherited = { isNullable: parts.some((part) => part.isNullable), isMixed: parts.some((part) => part.isMixed) };
  const options = [...schemasIn(anyOf), ...schemasIn(oneOf)].map((option) => flattened(option, components, steps + 1));
  return withOptions({ schema: joined, ...inherited }, options);
}

/** Returns the schema of a value with several alternatives. */
function withOptions(whole: Flat, options: readonly Flat[]): Flat {
  if (!options.some((option) => describesValues(option.schema))) return whole;
  const valued = options.filter((option) => !isOnlyNull(option.schema));
  const isNullable = whole.isNullable || valued.length < options.length;
  const [only] = valued;
  if (valued.length === 1 && only !== undefined)
    return {
      schema: joinedOf([only.schema, whole.schema]),
      isNullable: isNullable || only.isNullable,
      isMixed: only.isMixed,
    };
  const types = new Set(valued.map((option) => option.schema['type']));
  const areBoth = types.size === 2 && types.has('string') && (types.has('integer') || types.has('number'));
  if (areBoth) return { schema: { ...whole.schema, 'x-kubernetes-int-or-string': true }, isNullable, isMixed: false };
  return { ...whole, isNullable, isMixed: true };
}

function isOnlyNull({ type, enum: values }: JsonSchema): boolean {
  return type === 'null' || (Array.isArray(values) && values.length === 1 && values[0] === null);
}

/** Returns false for options such as `{required: […]}`, which only constrain members that are described elsewhere. */
function describesValues(schema: JsonSchema): boolean {
  return ['type', 'enum', 'properties', 'items', '$ref', 'format'].some((keyword) => schema[keyword] !== undefined);
}

function joinedOf(parts: readonly JsonSchema[]): JsonSchema {
  const joined = parts.reduce<JsonSchema>((all, part) => ({ ...all, ...part }), {});
  const properties = parts.reduce<JsonSchema>((all, part) => ({ ...all, ...membersIn(part['properties']) }), {});
  const required = new Set(parts.flatMap((part) => namesIn(part['required'])));
  return {
    ...joined,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.size > 0 ? { required: [...required] } : {}),
  };
}

/**
 * Returns whether a form offers a member that has no value. The server writes `readOnly` members, and refuses or
 * ignores `deprecated` members.
 */
export function isOffered({ readOnly, deprecated }: JsonSchema): boolean {
  return readOnly !== true && deprecated !== true;
}

export function namesIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

export function membersIn(value: unknown): JsonSchema {
  return isSchema(value) ? value : {};
}

export function schemasIn(value: unknown): readonly JsonSchema[] {
  return Array.isArray(value) ? value.filter(isSchema) : [];
}

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
