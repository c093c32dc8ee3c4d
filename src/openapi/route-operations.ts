import { isObject } from '../base/guards.ts';
import { subschemas, type Schema } from '../resource/schema/schema-check.ts';
import { camelCase, referenceTo, type UniqueNames } from './names.ts';
import type { Operation, Response } from './operation.ts';
import { methodOf } from './platform/platform-operations.ts';
import { toOpenApi30 } from './schema/to-openapi-30.ts';
import { toOpenApi31 } from './schema/to-openapi-31.ts';
import { refusalsIn, type MediaTypes } from './type-operations.ts';

/** A custom route or socket of a plugin, with the plugin's description. */
export type DescribedRoute = {
  readonly plugin: string;
  readonly kind: 'route' | 'socket';
  readonly method: string;
  /** An absolute path with parameters as `{name}`. */
  readonly path: string;
  readonly summary?: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: 'path' | 'query';
    readonly required: boolean;
    readonly schema: Schema;
  }[];
  readonly body?: Schema;
  readonly responses: readonly { readonly status: number; readonly description?: string; readonly schema?: Schema }[];
};

export type RouteContext = {
  readonly ids: UniqueNames;
  readonly media: Pick<MediaTypes, 'answer'>;
  /** The named schemas of the document. `routeOperation` adds the route's schemas that contain references. */
  readonly schemas: Map<string, Schema>;
};

/**
 * Converts a route to an operation of a document of OpenAPI 3.1. Returns undefined for a method other than GET, PUT,
 * POST, PATCH and DELETE.
 */
export function routeOperation(route: DescribedRoute, context: RouteContext): Operation | undefined {
  const method = methodOf(route.method);
  if (method === undefined) return undefined;
  const [, , group = '', version = '', ...rest] = route.path.split('/');
  const wanted = `${method}${camelCase(rest.map(pathWord).join('/'))}`;
  const operationId = context.ids.take(wanted, `${camelCase(group)}${camelCase(version)}`);
  const embed = (schema: Schema, place: string): Schema =>
    embedded(schema, `${route.plugin}.${operationId}.${place}`, context);
  const { body } = route;
  const { answer } = context.media;
  return {
    method,
    path: route.path,
    operationId,
    tag: `${group}/${version}`,
    plugin: route.plugin,
    ...(route.summary === undefined ? {} : { summary: route.summary }),
    parameters: route.parameters.map(({ name, in: place, required, schema }) => ({
      name,
      in: place,
      required,
      schema: embed(schema, `${place}.${camelCase(name)}`),
    })),
    ...(body === undefined
      ? {}
      : { body: { types: ['application/json'], schema: embed(body, 'body'), required: true } }),
    responses: [...responsesOf(route, embed), refusalsIn(answer)],
  };
}

function pathWord(segment: string): string {
  return segment.startsWith('{') ? `by-${segment.slice(1, -1)}` : segment;
}

function responsesOf(
  { kind, responses }: DescribedRoute,
  embed: (schema: Schema, place: string) => Schema,
): readonly Response[] {
  if (kind === 'socket') return [{ status: '101', description: 'A WebSocket.' }];
  if (responses.length === 0) return [{ status: '200', description: 'The response.' }];
  return responses.map(({ status, description = 'The response.', schema }) => ({
    status: String(status),
    description,
    ...(schema === undefined
      ? {}
      : { content: [{ types: ['application/json'], schema: embed(schema, `response.${String(status)}`) }] }),
  }));
}

/**
 * Converts a schema for the document. A schema with references becomes a named schema of the document, because its
 * references point to places within the schema. Returns `{}` for a schema with endless references.
 */
function embedded(schema: Schema, name: string, { schemas }: RouteContext): Schema {
  const hasReferences = [...subschemas(schema)].some(({ schema: inner }) => '$ref' in inner || '$dynamicRef' in inner);
  if (hasReferences && toOpenApi30(schema, name).isEndless) return {};
  const converted = toOpenApi31(schema, name);
  const result = isObject(converted) ? converted : {};
  if (!hasReferences) return result;
  schemas.set(name, result);
  return referenceTo(name);
}
