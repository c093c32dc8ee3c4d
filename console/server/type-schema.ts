import type { RemoteClient } from 'ledgerplane/client';

import type { ServedType } from './served-types.ts';

/** A JSON Schema from the API documents. `resolved` resolves its references. */
export type JsonSchema = { readonly [member: string]: unknown };

/** The parts of a type's declaration that the API documents contain. */
export type TypeSchema = {
  readonly schema: JsonSchema;
  /** The schemas to which references in `schema` point: `#/components/schemas/<name>`. */
  readonly components: Readonly<Record<string, JsonSchema>>;
  /** The fields in selectors and sort orders of lists, for example `spec.size`. */
  readonly fields: readonly string[];
  /** The declared columns of tables, with the JSON pointers of their values. */
  readonly columns: readonly { readonly name: string; readonly pointer: string }[];
  /** The fields that contain names of objects, and the type of these objects: `<plural>.<group>`. */
  readonly references: readonly { readonly field: string; readonly to: string }[];
};

type ApiDocument = { readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> } };
type Extended = {
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[];
  readonly 'x-kubernetes-selectable-fields'?: readonly { readonly fieldPath: string }[];
  readonly 'x-ledgerplane-columns'?: TypeSchema['columns'];
  readonly 'x-ledgerplane-references'?: TypeSchema['references'];
};

/**
 * Reads the schema of a type from the API document of its group and version. Resolves with undefined if the type has
 * none.
 */
export async function readTypeSchema(
  client: RemoteClient,
  { group, version, kind }: ServedType,
  signal: AbortSignal,
): Promise<TypeSchema | null> {
  const path = group === '' ? `/openapi/v3/api/${version}` : `/openapi/v3/apis/${group}/${version}`;
  const document = await client.request<ApiDocument>(path, { signal });
  const components = document?.components.schemas ?? {};
  const schema = Object.values(components).find((each: JsonSchema & Extended) =>
    (each['x-kubernetes-group-version-kind'] ?? []).some((gvk) => gvk.kind === kind && gvk.version === version),
  );
  if (schema === undefined) return null;
  const extended: Extended = schema;
  return {
    schema,
    components,
    fields: (extended['x-kubernetes-selectable-fields'] ?? []).map(({ fieldPath }) => fieldPath),
    columns: extended['x-ledgerplane-columns'] ?? [],
    references: extended['x-ledgerplane-references'] ?? [],
  };
}

const reference = '#/components/schemas/';

/** Returns the schema to which a reference points. An `allOf` with one member is replaced by this member. */
export function resolved(schema: JsonSchema, components: TypeSchema['components']): JsonSchema {
  const { $ref: named, allOf } = schema;
  if (typeof named === 'string' && named.startsWith(reference))
    return components[named.slice(reference.length)] ?? schema;
  const only: unknown = Array.isArray(allOf) && allOf.length === 1 ? allOf[0] : undefined;
  return isSchema(only) ? { ...resolved(only, components), ...schema, allOf: undefined } : schema;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
