import { resolved, type JsonSchema, type TypeSchema } from '../../../server/type-schema.ts';
import type { ServedType } from '../../../server/served-types.ts';
import { isJsonObject, type Json, type JsonObject } from './editable.ts';

/** The maximum level of required members in a new draft. */
const depthMax = 6;

/** Returns the draft of a new object: the type, an empty name, and the required members of the schema. */
export function skeletonOf({ group, version, kind }: ServedType, schema: TypeSchema | undefined): JsonObject {
  const content = schema === undefined ? {} : valueOf(schema.schema, schema.components, 0);
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...own } = isJsonObject(content) ? content : {};
  return {
    apiVersion: group === '' ? version : `${group}/${version}`,
    kind,
    metadata: { name: '' },
    ...('spec' in own || !hasSpec(schema) ? own : { ...own, spec: {} }),
  };
}

function hasSpec(schema: TypeSchema | undefined): boolean {
  return isJsonObject(schema?.schema['properties']) && 'spec' in schema.schema['properties'];
}

/** Returns the smallest value of a schema: the default, or an empty value with the required members. */
export function valueOf(schema: JsonSchema, components: TypeSchema['components'], depth: number): Json {
  const { default: preset, enum: values, type, properties, required } = resolved(schema, components);
  if (isJson(preset)) return preset;
  if (Array.isArray(values) && isJson(values[0])) return values[0];
  switch (type) {
    case 'object': {
      const names = Array.isArray(required) ? required.map(String) : [];
      const wanted = depth === 0 ? [...new Set(['spec', ...names])] : names;
      const members = isJsonObject(properties) ? properties : {};
      return Object.fromEntries(
        wanted.flatMap((name) => {
          const member = members[name];
          return isJsonObject(member) && depth < depthMax ? [[name, valueOf(member, components, depth + 1)]] : [];
        }),
      );
    }
    case 'array':
      return [];
    case 'integer':
    case 'number':
      return 0;
    case 'boolean':
      return false;
    default:
      return '';
  }
}

function isJson(value: unknown): value is Json {
  return value !== undefined;
}
