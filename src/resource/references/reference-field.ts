import { isList, isObject } from '../../base/guards.ts';
import { nearWord } from '../schema/suggestions.ts';

export type FieldSchema = {
  /** The compiled schema; undefined if the schema is invalid. */
  readonly schema: Readonly<Record<string, unknown>> | undefined;
  readonly statusSubresource: boolean;
};

type Field = FieldSchema & { readonly isCleared: boolean };

/** Returns the reason why a field of a type cannot be declared as a reference; undefined if the field is suitable. */
export function fieldProblem(field: string, { schema, statusSubresource, isCleared }: Field): string | undefined {
  const path = field.split('.');
  if (path[0] === 'metadata') return 'must not be a field of metadata';
  if (path[0] === 'status' && statusSubresource) return 'must not be a field of the status, which other writers set';
  if (schema === undefined) return undefined;
  const { parent, found } = schemasAt(schema, path);
  if (found === undefined) return `the schema has no field ${field}${meantField(schema, path)}`;
  const isArray = isArrayOfStrings(found);
  if (!isArray && !isOfStrings(found))
    return `the schema of ${field} must have the type string, or be an array of strings`;
  if (!isCleared) return undefined;
  return isArray ? emptyProblem(field, found['minItems']) : clearProblem(field, parent, path.at(-1) ?? '');
}

/** The schema of a field, and the schema of the object that contains the field. */
function schemasAt(schema: unknown, path: readonly string[]): { readonly parent: unknown; readonly found: unknown } {
  const members = path.slice(0, -1);
  const parent = members.reduce(schemaOfMember, schema);
  return { parent, found: schemaOfMember(parent, path.at(-1) ?? '') };
}

function schemaOfMember(schema: unknown, member: string): unknown {
  const properties = propertiesOf(schema);
  return Object.hasOwn(properties, member) ? properties[member] : undefined;
}

function propertiesOf(schema: unknown): Readonly<Record<string, unknown>> {
  const properties = isObject(schema) ? schema['properties'] : undefined;
  return isObject(properties) ? properties : {};
}

/** Returns a hint: the path with a similar name for the first member that the schema lacks. */
function meantField(schema: unknown, path: readonly string[]): string {
  let parent = schema;
  for (const [depth, member] of path.entries()) {
    const inner = schemaOfMember(parent, member);
    if (inner === undefined) {
      const near = nearWord(member, Object.keys(propertiesOf(parent)));
      return near === undefined ? '' : `; did you mean ${JSON.stringify(path.with(depth, near).join('.'))}?`;
    }
    parent = inner;
  }
  return '';
}

const clearRemedy = 'change the schema, or declare another onDelete';

function emptyProblem(field: string, least: unknown): string | undefined {
  return typeof least === 'number' && least > 0
    ? `${field} cannot be cleared, because the schema requires at least ${String(least)} items; ${clearRemedy}`
    : undefined;
}

function clearProblem(field: string, parent: unknown, member: string): string | undefined {
  const required = isObject(parent) ? parent['required'] : undefined;
  return isList(required) && required.includes(member)
    ? `${field} cannot be cleared, because the schema requires it; ${clearRemedy}`
    : undefined;
}

function isArrayOfStrings(schema: unknown): schema is Readonly<Record<string, unknown>> {
  return isObject(schema) && hasType(schema, 'array') && isOfStrings(schema['items']);
}

function isOfStrings(schema: unknown): boolean {
  return isObject(schema) && hasType(schema, 'string');
}

/** Whether the schema allows values of the type `wanted` and no other values except null. */
function hasType({ type }: Readonly<Record<string, unknown>>, wanted: string): boolean {
  const types: readonly unknown[] = isList(type) ? type : [type];
  return types.includes(wanted) && types.every((each) => each === wanted || each === 'null');
}
