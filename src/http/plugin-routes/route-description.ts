import type { Endpoints, RouteEndpoint } from '../../plugin/api/endpoints.ts';
import type { JsonSchema } from '../../plugin/api/plugin.ts';

/** The description of a custom route or socket, for API documents. */
export type RouteDescription = {
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
    readonly schema: JsonSchema;
  }[];
  readonly body?: JsonSchema;
  readonly responses: readonly {
    readonly status: number;
    readonly description?: string;
    readonly schema?: JsonSchema;
  }[];
};

export function describeRoutes(plugin: string, { routes, sockets }: Endpoints): readonly RouteDescription[] {
  return [
    ...routes.map((route) => described(plugin, route)),
    ...sockets.map(({ path, summary }): RouteDescription => ({
      plugin,
      kind: 'socket',
      method: 'GET',
      path,
      parameters: pathParameters(path),
      responses: [],
      ...(summary === undefined ? {} : { summary }),
    })),
  ];
}

function described(
  plugin: string,
  { method, path, summary, query = new Map(), body, responses = new Map() }: RouteEndpoint,
): RouteDescription {
  return {
    plugin,
    kind: 'route',
    method,
    path,
    parameters: [
      ...pathParameters(path),
      ...[...query].map(([name, { schema }]) => ({ name, in: 'query' as const, required: false, schema })),
    ],
    responses: [...responses].map(([status, { description, schema }]) => ({
      status,
      ...(description === undefined ? {} : { description }),
      ...(schema === undefined ? {} : { schema: schema.schema }),
    })),
    ...(summary === undefined ? {} : { summary }),
    ...(body === undefined ? {} : { body: body.schema }),
  };
}

function pathParameters(path: string): RouteDescription['parameters'] {
  return [...path.matchAll(/\{(\w+)\}/gu)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}
