import { isObject } from '../base/guards.ts';
import type { Schema } from '../resource/schema/schema-check.ts';
import { withPlatformMembers } from '../resource/schema/schema.ts';
import type { ResourceType } from '../resource/type/resource-type.ts';
import { referenceTo, schemaNameOf } from './names.ts';
import { toOpenApi30 } from './schema/to-openapi-30.ts';
import { toOpenApi31 } from './schema/to-openapi-31.ts';
import { typedObject } from './schema/typed-part.ts';
import { listMeta, objectMeta } from './standard-schemas.ts';

/** The schemas of types by name, for OpenAPI 3.0 and 3.1. Each type is translated once for each version. */
export class TypeSchemas {
  readonly #domain: string;
  readonly #of30 = new WeakMap<ResourceType, ReadonlyMap<string, Schema>>();
  readonly #of31 = new WeakMap<ResourceType, ReadonlyMap<string, Schema>>();

  constructor(domain: string) {
    this.#domain = domain;
  }

  of30(type: ResourceType): ReadonlyMap<string, Schema> {
    return memoized(this.#of30, type, () => schemas30(type, this.#domain));
  }

  of31(type: ResourceType): ReadonlyMap<string, Schema> {
    return memoized(this.#of31, type, () => schemas31(type, this.#domain));
  }
}

function memoized<V>(memo: WeakMap<ResourceType, V>, type: ResourceType, make: () => V): V {
  const known = memo.get(type);
  if (known !== undefined) return known;
  const made = make();
  memo.set(type, made);
  return made;
}

function schemas30(type: ResourceType, domain: string): ReadonlyMap<string, Schema> {
  const name = schemaNameOf(type, domain);
  const { schema, components } = toOpenApi30(withPlatformMembers(type.schema), name);
  return new Map([[name, objectSchema(type, schema)], [`${name}List`, listSchema(type, name)], ...components]);
}

function schemas31(type: ResourceType, domain: string): ReadonlyMap<string, Schema> {
  const name = schemaNameOf(type, domain);
  const root = withPlatformMembers(type.schema);
  // If references form a cycle that readers would follow forever, the schema of any object replaces the whole schema.
  const schema = toOpenApi30(root, name).isEndless ? { type: 'object' } : toOpenApi31(root, name);
  return new Map([
    [name, withDeclared(type, objectSchema(type, isObject(schema) ? schema : {}))],
    [`${name}List`, listSchema(type, name)],
  ]);
}

const declaredSchema = 'x-ledgerplane-schema';

/**
 * Adds the member `x-ledgerplane-schema` with the declared schema as JSON text, if the translation lacks something that
 * affects the TypeScript type. `npx ledgerplane types` reads this member. A member of this name in the declared schema
 * is dropped.
 */
function withDeclared({ schema }: ResourceType, translated: Schema): Schema {
  const { [declaredSchema]: _own, ...kept } = translated;
  const isSame = JSON.stringify(typedObject(kept)) === JSON.stringify(typedObject(schema));
  return isSame ? kept : { ...kept, [declaredSchema]: JSON.stringify(schema) };
}

function objectSchema(type: ResourceType, schema: Schema): Schema {
  const { properties } = schema;
  return {
    ...schema,
    properties: { ...platformMembers(type), ...(isObject(properties) ? without(properties) : {}) },
    'x-kubernetes-group-version-kind': [gvkOf(type, '')],
    // Front ends offer selectors and sorting by these fields, and sort by a column if its field is among them.
    'x-kubernetes-selectable-fields': type.indexes.map(({ name }) => ({ fieldPath: name })),
    'x-ledgerplane-columns': type.printerColumns.map(({ name, pointer }) => ({ name, pointer })),
    // Forms offer the names of the objects to which these fields refer.
    'x-ledgerplane-references': type.references.map(({ field, to }) => ({ field, to })),
  };
}

/** Returns the schemas of the members that every object has. */
function platformMembers({ apiVersion, kind }: ResourceType): Schema {
  return {
    apiVersion: { type: 'string', description: `${apiVersion}; added if omitted.` },
    kind: { type: 'string', description: `${kind}; added if omitted.` },
    metadata: { allOf: [referenceTo(objectMeta)], description: 'The name, labels and versions of the object.' },
  };
}

function without({ apiVersion: _version, kind: _kind, metadata: _metadata, ...declared }: Schema): Schema {
  return declared;
}

function gvkOf({ group, version, kind }: ResourceType, suffix: string): Schema {
  return { group, version, kind: `${kind}${suffix}` };
}

/** Returns the schema of a list (decision 4.1). */
function listSchema(type: ResourceType, name: string): Schema {
  const count = { type: 'integer', format: 'int64' };
  return {
    type: 'object',
    description: `A list of ${type.plural}.`,
    required: ['items'],
    properties: {
      apiVersion: { type: 'string', description: type.apiVersion },
      kind: { type: 'string', description: `${type.kind}List` },
      metadata: {
        allOf: [referenceTo(listMeta)],
        description: 'The position of the list, and the token of its next page.',
      },
      page: { ...count, description: 'The number of the page. The first page is 1.' },
      size: { ...count, description: 'The number of objects per page; 0 if the list has no pages.' },
      total: { ...count, description: 'The number of matching objects on all pages.' },
      totalPages: { ...count, description: 'The number of pages.' },
      first: { type: 'boolean', description: 'Whether this is the first page.' },
      last: { type: 'boolean', description: 'Whether this is the last page.' },
      hasNext: { type: 'boolean', description: 'Whether a next page exists.' },
      hasPrevious: { type: 'boolean', description: 'Whether a previous page exists.' },
      items: { type: 'array', items: referenceTo(name), description: 'The objects.' },
    },
    'x-kubernetes-group-version-kind': [gvkOf(type, 'List')],
  };
}
