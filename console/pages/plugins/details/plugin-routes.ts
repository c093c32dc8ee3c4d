import { useQuery } from '@tanstack/vue-query';

import { useServer } from '../../../server/use-server.ts';

export type RouteParameter = {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly description?: string | undefined;
};

export type PluginRoute = {
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly summary?: string | undefined;
  readonly parameters: readonly RouteParameter[];
  /** Whether the route is a WebSocket, which cannot be tried with a GET. */
  readonly isSocket: boolean;
};

type ApiOperation = {
  readonly 'x-ledgerplane-plugin'?: string;
  readonly summary?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly responses?: Readonly<Record<string, unknown>>;
};
type ApiDocument = { readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>> };

/** Reads the custom routes of all plugins from the server's OpenAPI document, by plugin. */
export function usePluginRoutes(): ReturnType<typeof useQuery<ReadonlyMap<string, readonly PluginRoute[]>>> {
  const { client } = useServer();
  return useQuery({
    queryKey: ['plugins', 'routes'],
    queryFn: async ({ signal }) => routesByPlugin(await client.request<ApiDocument>('/v3/api-docs', { signal })),
    staleTime: 30_000,
  });
}

/** Returns only the shown members, because the document may have several megabytes. */
function routesByPlugin(document: ApiDocument | undefined): ReadonlyMap<string, readonly PluginRoute[]> {
  const routes = new Map<string, PluginRoute[]>();
  for (const [path, operations] of Object.entries(document?.paths ?? {}))
    for (const [method, operation] of Object.entries(operations)) {
      const plugin = operation['x-ledgerplane-plugin'];
      if (plugin === undefined) continue;
      const route = routeOf(method.toUpperCase(), path, operation);
      const others = routes.get(plugin);
      if (others === undefined) routes.set(plugin, [route]);
      else others.push(route);
    }
  return routes;
}

function routeOf(
  method: string,
  path: string,
  { summary, parameters = [], responses = {} }: ApiOperation,
): PluginRoute {
  return {
    key: `${method} ${path}`,
    method,
    path,
    summary,
    isSocket: '101' in responses,
    parameters: parameters.flatMap(({ name, in: place, required = false }) =>
      place === 'path' || place === 'query' ? [{ name, in: place, required }] : [],
    ),
  };
}
