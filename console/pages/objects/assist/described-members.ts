import { resolved, type JsonSchema, type TypeSchema } from '../../../server/type-schema.ts';
import { isSchema, membersIn, namesIn, schemasIn } from '../form/field-kind.ts';
import { metadataSchema } from '../form/metadata-schema.ts';

type Components = TypeSchema['components'];

/** A member of an object, as its schemas describe it. */
export type DescribedMember = { readonly name: string; readonly isRequired: boolean; readonly schemas: Described };

/** The schemas that describe a value: schemas that always apply, and schemas of alternatives. */
export type Described = readonly { readonly schema: JsonSchema; readonly isAlternative: boolean }[];

/** The maximum depth to which references and subschemas are followed. A cycle of references describes no value. */
const depthMax = 16;
const schemasMax = 64;

/**
 * Returns the schemas of the value at a path of an object. In metadata, only the members that users write are
 * described.
 */
export function describedAt(
  { schema, components }: TypeSchema,
  path: readonly (string | number)[],
  isNew: boolean,
): Described {
  let at = expanded([schema], components);
  for (const [index, step] of path.entries())
    at =
      index === 0 && step === 'metadata'
        ? expanded([metadataOf(at, components, isNew)], components)
        : expanded(below(at, step), components);
  return at;
}

/** Returns the members that the schemas declare, required ones first. */
export function membersOf(described: Described, components: Components): readonly DescribedMember[] {
  const names = new Set<string>();
  const required = new Set<string>();
  for (const { schema, isAlternative } of described) {
    for (const name of Object.keys(membersIn(schema['properties']))) names.add(name);
    if (!isAlternative) for (const name of namesIn(schema['required'])) required.add(name);
  }
  return [...names]
    .map((name) => ({
      name,
      isRequired: required.has(name),
      schemas: expanded(
        described.flatMap(({ schema }) => schemaIn(membersIn(schema['properties']), name)),
        components,
      ),
    }))
    .sort((left, right) => Number(right.isRequired) - Number(left.isRequired));
}

/** Returns the values that the schemas list: the default first, then the values of `enum` and `const`, and booleans. */
export function valuesOf(described: Described): readonly unknown[] {
  const values = described.flatMap(({ schema }): readonly unknown[] => [
    ...unknownsIn(schema['enum']),
    ...(Object.hasOwn(schema, 'const') ? [schema['const']] : []),
    ...(typesIn(schema).includes('boolean') && schema['enum'] === undefined ? [true, false] : []),
    ...(typesIn(schema).includes('null') || schema['nullable'] === true ? [null] : []),
  ]);
  const preset = described.flatMap(({ schema }) => (isScalar(schema['default']) ? [schema['default']] : []));
  return [...new Set([...preset, ...values.filter(isScalar)])];
}

/** Returns the types of a value, such as `string` or `array of object`. */
export function typeText(described: Described, components: Components): string {
  const types = described.flatMap(({ schema }) => {
    if (schema['x-kubernetes-int-or-string'] === true) return ['integer', 'string'];
    const { items, format } = schema;
    return typesIn(schema).map((type) => {
      if (type === 'array' && isSchema(items))
        return `array of ${typeText(expanded([items], components), {}) || 'any'}`;
      return typeof format === 'string' && type !== 'array' ? `${type} (${format})` : type;
    });
  });
  return [...new Set(types)].join(' | ');
}

/** Returns the first text of a keyword, for example `description`, in the schemas. */
export function textOf(described: Described, keyword: string): string {
  const texts = described.map(({ schema }) => schema[keyword]).filter((text) => typeof text === 'string');
  return texts[0] ?? '';
}

export function isContainer(described: Described): 'object' | 'array' | undefined {
  const types = new Set(described.flatMap(({ schema }) => typesIn(schema)));
  if (types.has('array') && !types.has('string')) return 'array';
  const hasMembers = described.some(({ schema }) => Object.keys(membersIn(schema['properties'])).length > 0);
  return hasMembers || types.has('object') ? 'object' : undefined;
}

function metadataOf(root: Described, components: Components, isNew: boolean): JsonSchema {
  const served = expanded(below(root, 'metadata'), components);
  const properties = Object.entries(membersIn(metadataSchema['properties'])).map(([name, schema]) => {
    const description = textOf(expanded(below(served, name), components), 'description');
    return [name, { ...(isSchema(schema) ? schema : {}), ...(description === '' ? {} : { description }) }];
  });
  return { ...metadataSchema, ...(isNew ? {} : { required: [] }), properties: Object.fromEntries(properties) };
}

function below(described: Described, step: string | number): readonly JsonSchema[] {
  return described.flatMap(({ schema }) => {
    if (typeof step === 'number') {
      const { items, prefixItems } = schema;
      return [items, ...unknownsIn(prefixItems)].filter(isSchema);
    }
    const declared = schemaIn(membersIn(schema['properties']), step);
    return declared.length > 0 ? declared : [schema['additionalProperties']].filter(isSchema);
  });
}

/** Resolves references. Returns each schema together with its schemas in `allOf`, `anyOf` and `oneOf`. */
function expanded(schemas: readonly JsonSchema[], components: Components): Described {
  const found: { readonly schema: JsonSchema; readonly isAlternative: boolean }[] = [];
  const visit = (given: JsonSchema, isAlternative: boolean, depth: number): void => {
    if (depth > depthMax || found.length >= schemasMax) return;
    const schema = resolved(given, components);
    if (schema !== given) {
      visit(schema, isAlternative, depth + 1);
      if (typeof given['description'] === 'string') found.unshift({ schema: textsOf(given), isAlternative });
      return;
    }
    found.push({ schema, isAlternative });
    for (const part of schemasIn(schema['allOf'])) visit(part, isAlternative, depth + 1);
    for (const keyword of ['anyOf', 'oneOf'])
      for (const part of schemasIn(schema[keyword])) visit(part, true, depth + 1);
  };
  for (const schema of schemas) visit(schema, false, 0);
  return found;
}

/** A description next to a reference belongs to the member itself. */
function textsOf({ title, description }: JsonSchema): JsonSchema {
  return { ...(title === undefined ? {} : { title }), description };
}

function schemaIn(properties: JsonSchema, name: string): readonly JsonSchema[] {
  const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isSchema(schema) ? [schema] : [];
}

function typesIn({ type }: JsonSchema): readonly string[] {
  return typeof type === 'string' ? [type] : namesIn(type);
}

function unknownsIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isScalar(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}
