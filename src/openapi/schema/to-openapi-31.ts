import { isList, isObject } from '../../base/guards.ts';
import { openApiSchemaDepthMax } from '../../limits/openapi.ts';
import { mapSubschemas, type Schema } from '../../resource/schema/schema-check.ts';
import { schemasPrefix } from '../names.ts';
import { isShownExtension } from './extensions.ts';
import { holdsReference, withoutReference } from './reference-words.ts';
import { SchemaTargets } from './schema-targets.ts';

/**
 * Keywords that are not copied, because they have no meaning or another meaning inside a document. Of these keywords,
 * `$ref`, `$dynamicRef` and `nullable` are translated.
 */
const dropped = new Set([
  '$id',
  '$schema',
  '$vocabulary',
  '$anchor',
  '$dynamicAnchor',
  '$recursiveAnchor',
  '$recursiveRef',
  'nullable',
  'xml',
  'externalDocs',
  '$ref',
  '$dynamicRef',
]);
const maps = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  'dependentRequired',
  '$defs',
  'definitions',
]);

/**
 * Translates the schema into the component `name` of a document. OpenAPI 3.1 uses JSON Schema 2020-12, so only a few
 * keywords and the references change. A reference within the schema becomes a reference within the component.
 */
export function toOpenApi31(root: unknown, name: string): unknown {
  const targets = new SchemaTargets(root);
  const change = (schema: Schema): Schema => {
    const ref = schema['$ref'] ?? schema['$dynamicRef'];
    const found = typeof ref === 'string' ? targets.find(ref) : undefined;
    return {
      ...keptMembers(schema),
      ...(found === undefined ? {} : { $ref: `${schemasPrefix}${name}${encoded(found.pointer)}` }),
      ...(schema['nullable'] === true ? { type: withNull(schema['type']) } : {}),
    };
  };
  return mapSubschemas(root, change, openApiSchemaDepthMax);
}

const values = new Set(['default', 'example', 'examples', 'enum', 'const']);
const closing = new Set(['additionalProperties', 'unevaluatedProperties', 'propertyNames']);

/**
 * Drops the keywords in `dropped`, hidden extensions, and values that contain `$ref`. Also drops a property named
 * `$ref`, which looks like a reference, together with the keywords that could then refuse the undeclared property.
 */
function keptMembers(schema: Schema): Schema {
  const named = schema['properties'];
  const hidden = isObject(named) && Object.hasOwn(named, '$ref');
  const members = Object.entries(schema)
    .filter(([keyword]) => !dropped.has(keyword) && (!keyword.startsWith('x-') || isShownExtension(keyword)))
    .filter(([keyword]) => !hidden || !closing.has(keyword))
    .filter(([keyword, value]) => !(values.has(keyword) || keyword.startsWith('x-')) || !holdsReference(value))
    .map(([keyword, value]): [string, unknown] =>
      maps.has(keyword) && isObject(value) ? [keyword, withoutReference(value)] : [keyword, value],
    );
  return Object.fromEntries(members);
}

function encoded(pointer: string): string {
  return pointer.split('/').map(encodeURIComponent).join('/');
}

function withNull(type: unknown): readonly unknown[] {
  return [...new Set([...(isList(type) ? type : [type]), 'null'])];
}
