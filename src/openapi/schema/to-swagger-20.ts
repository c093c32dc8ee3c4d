import { isList, isObject } from '../../base/guards.ts';
import type { Schema } from '../../resource/schema/schema-check.ts';
import { schemasPrefix } from '../names.ts';

const kept = new Set([
  'title',
  'description',
  'default',
  'format',
  'multipleOf',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'uniqueItems',
  'maxProperties',
  'minProperties',
  'required',
  'enum',
  'type',
  'readOnly',
  'example',
]);

/**
 * Translates a schema object of OpenAPI 3.0 into OpenAPI 2.0. The result accepts the same values or more values.
 * OpenAPI 2.0 lacks `anyOf`, `oneOf`, `not` and `nullable`. These keywords are dropped, and a nullable schema also
 * loses its type.
 */
export function toSwagger20(schema: unknown): Schema {
  if (!isObject(schema)) return {};
  const { $ref, description, properties, additionalProperties, items, allOf } = schema;
  const reference = typeof $ref === 'string' ? $ref : onlyReference(schema);
  if (reference !== undefined)
    return { $ref: definitionOf(reference), ...(typeof description === 'string' ? { description } : {}) };
  const isOpen = isObject(properties) && additionalProperties === undefined;
  return {
    ...ownMembers(schema),
    ...(isObject(items) ? { items: toSwagger20(items) } : {}),
    ...(isList(allOf) ? { allOf: allOf.map(toSwagger20) } : {}),
    ...(isObject(properties) ? { properties: mapped(properties) } : {}),
    ...(additionalProperties === undefined ? {} : { additionalProperties: additional(additionalProperties) }),
    ...(isOpen ? { 'x-kubernetes-preserve-unknown-fields': true } : {}),
  };
}

/**
 * Returns the extensions and the members that OpenAPI 2.0 supports, except members that contain schemas. A nullable
 * schema loses its type.
 */
function ownMembers(schema: Schema): Schema {
  const members = Object.entries(schema).filter(([keyword]) => kept.has(keyword) || keyword.startsWith('x-'));
  return Object.fromEntries(members.filter(([keyword]) => keyword !== 'type' || schema['nullable'] !== true));
}

/**
 * Returns the reference in a schema with only an `allOf` of a single reference and, optionally, a description. The
 * reference replaces the `allOf`, because few clients of OpenAPI 2.0 read `allOf`.
 */
function onlyReference({ allOf, description: _description, ...others }: Schema): string | undefined {
  const [first, ...more] = isList(allOf) ? allOf : [];
  if (!isObject(first) || more.length > 0 || Object.keys(others).length > 0) return undefined;
  return typeof first['$ref'] === 'string' ? first['$ref'] : undefined;
}

function definitionOf(reference: string): string {
  return reference.startsWith(schemasPrefix) ? `#/definitions/${reference.slice(schemasPrefix.length)}` : reference;
}

function mapped(properties: Schema): Schema {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, toSwagger20(schema)]));
}

function additional(value: unknown): unknown {
  return typeof value === 'boolean' ? value : toSwagger20(value);
}
