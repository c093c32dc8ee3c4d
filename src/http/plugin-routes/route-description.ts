import type { Endpoints, RouteEndpoint } from '../../plugin/api/endpoints.ts';
import type { DescribedRoute } from '../../openapi/route-operations.ts';

export function describeRoutes(plugin: string, { routes, sockets }: Endpoints): readonly DescribedRoute[] {
  return [
    ...routes.map((route) => described(plugin, route)),
    ...sockets.map(({ path, summary }): DescribedRoute => ({
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
): DescribedRoute {
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

function pathParameters(path: string): DescribedRoute['parameters'] {
  return [...path.matchAll(/\{(\w+)\}/gu)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}
