import type { JsonSchema, TypeSchema } from '../../../server/type-schema.ts';
import { valueOf } from '../object/skeleton.ts';
import { fieldOf } from './field-kind.ts';
import type { Json } from '../object/editable.ts';

/** Returns the value of a field that the user adds: the default, or an empty value with the required members. */
export function initialValue(schema: JsonSchema, components: TypeSchema['components']): Json {
  const field = fieldOf(schema, components, undefined);
  const { default: preset } = field.schema;
  if (preset === undefined && field.kind === 'yaml') return null;
  if (preset === undefined && field.kind === 'map') return {};
  return valueOf(field.schema, components, 1);
}
