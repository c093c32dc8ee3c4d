import { isObject } from '../../base/guards.ts';
import { typedPartDepthMax } from '../../limits/openapi.ts';

/**
 * The part of a schema that determines the TypeScript type of objects that are read, by the rules of `ObjectOfSchema`
 * in the plugin API.
 */
export type TypedPart = { readonly description?: string } & (
  | { readonly kind: 'unknown' }
  | { readonly kind: 'text' | 'number' | 'boolean' | 'null' }
  /** One of these JSON values. */
  | { readonly kind: 'values'; readonly values: readonly unknown[] }
  | { readonly kind: 'union'; readonly parts: readonly TypedPart[] }
  | { readonly kind: 'list'; readonly items: TypedPart }
  /** An object with members of any name. */
  | { readonly kind: 'record'; readonly each: TypedPart }
  | MembersPart
);

export type MembersPart = {
  readonly kind: 'members';
  readonly description?: string;
  readonly members: readonly TypedMember[];
};

export type TypedMember = {
  readonly name: string;
  readonly isRequired: boolean;
  readonly part: TypedPart;
};

const unknown: TypedPart = { kind: 'unknown' };

export function typedPart(schema: unknown, depth = 0): TypedPart {
  if (!isObject(schema)) return unknown;
  const { description } = schema;
  const part = depth > typedPartDepthMax ? unknown : partOf(schema, depth);
  return typeof description === 'string' ? { ...part, description } : part;
}

/** Returns the declared members of an object, without the platform's members; undefined if no members are declared. */
export function typedObject(schema: unknown): MembersPart | undefined {
  if (!isObject(schema) || !isObject(schema['properties'])) return undefined;
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...declared } = schema['properties'];
  const { description } = schema;
  const members = membersOf({ ...schema, properties: declared }, declared, 0);
  return typeof description === 'string' ? { ...members, description } : members;
}

/** Returns the part of a schema. Keywords are checked in the order of `ObjectOfSchema`. */
function partOf(schema: Readonly<Record<string, unknown>>, depth: number): TypedPart {
  const { const: value, enum: values, type, anyOf, oneOf } = schema;
  if (value !== undefined) return { kind: 'values', values: [value] };
  if (Array.isArray(values)) return { kind: 'values', values };
  if (type !== undefined) return ofTypes(typeNamesOf(schema), schema, depth);
  const choices = anyOf ?? oneOf;
  if (!Array.isArray(choices)) return unknown;
  return { kind: 'union', parts: choices.map((choice) => typedPart(choice, depth + 1)) };
}

/** Returns the names in `type`. `nullable` adds the name `null`, as in the translation to OpenAPI. */
function typeNamesOf({ type, nullable }: Readonly<Record<string, unknown>>): readonly unknown[] {
  const names: readonly unknown[] = Array.isArray(type) ? type : [type];
  return [...new Set(nullable === true ? [...names, 'null'] : names)];
}

function ofTypes(names: readonly unknown[], schema: Readonly<Record<string, unknown>>, depth: number): TypedPart {
  const [first = unknown, ...others] = names.map((name) => ofType(name, schema, depth));
  return others.length === 0 ? first : { kind: 'union', parts: [first, ...others] };
}

function ofType(name: unknown, schema: Readonly<Record<string, unknown>>, depth: number): TypedPart {
  switch (name) {
    case 'string':
      return { kind: 'text' };
    case 'number':
    case 'integer':
      return { kind: 'number' };
    case 'boolean':
    case 'null':
      return { kind: name };
    case 'array': {
      const isTuple = schema['prefixItems'] !== undefined;
      return { kind: 'list', items: isTuple ? unknown : typedPart(schema['items'], depth + 1) };
    }
    case 'object':
      return isObject(schema['properties'])
        ? membersOf(schema, schema['properties'], depth)
        : { kind: 'record', each: typedPart(schema['additionalProperties'], depth + 1) };
    default:
      return unknown;
  }
}

function membersOf(
  schema: Readonly<Record<string, unknown>>,
  properties: Readonly<Record<string, unknown>>,
  depth: number,
): MembersPart {
  const required = new Set<unknown>(Array.isArray(schema['required']) ? schema['required'] : []);
  for (const name of defaultedNames(schema, depth)) required.add(name);
  const members = Object.entries(properties).map(([name, member]) => ({
    name,
    isRequired: required.has(name),
    part: typedPart(member, depth + 1),
  }));
  return { kind: 'members', members };
}

/** Returns the names of properties with a default, which the server fills in. */
function defaultedNames(schema: unknown, depth: number): readonly string[] {
  if (!isObject(schema) || depth > typedPartDepthMax) return [];
  const { properties } = schema;
  const own = isObject(properties)
    ? Object.keys(properties).filter((name) => hasDefault(properties[name], depth + 1))
    : [];
  return [...own, ...conjunctsOf(schema).flatMap((each) => defaultedNames(each, depth + 1))];
}

function hasDefault(schema: unknown, depth: number): boolean {
  if (!isObject(schema) || depth > typedPartDepthMax) return false;
  return Object.hasOwn(schema, 'default') || conjunctsOf(schema).some((each) => hasDefault(each, depth + 1));
}

function conjunctsOf({ allOf }: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Array.isArray(allOf) ? allOf : [];
}
