import { isObject } from '../../base/guards.ts';
import { routesPerPluginMax } from '../../limits/plugins.ts';
import { subdomainProblem } from '../../resource/type/names.ts';
import { shortJson } from '../../resource/schema/schema-violations.ts';
import { decodeRouteSchemas } from './decode-route-schemas.ts';
import { unknownMembers } from './unknown-members.ts';
import type { Endpoints, RouteEndpoint, SocketEndpoint } from '../api/endpoints.ts';
import type { RouteHandler, SocketHandler } from '../api/plugin.ts';

export type DecodedEndpoints = Endpoints & {
  /** The paths of controllers without an apiVersion, which are never served (docs/spec/decisions.md, 9.5). */
  readonly ignoredControllers: readonly string[];
};

/**
 * `at`: a position in the plugin's export, for messages. `prefix`: the prefix of the paths at this position; empty if
 * the paths are absolute.
 */
type SchemaPlace = {
  readonly at: string;
  readonly prefix: string;
};

type SchemaMembers = {
  readonly members: Readonly<Record<string, unknown>>;
  readonly place: SchemaPlace;
};

/** Decodes the controllers, routes and sockets in a plugin's export. Adds their problems to `problems`. */
export function decodeEndpoints(exported: Readonly<Record<string, unknown>>, problems: string[]): DecodedEndpoints {
  const ignoredControllers: string[] = [];
  const sources: SchemaMembers[] = [];
  listOf(exported, 'controllers', { at: 'controllers', countMax: routesPerPluginMax }, problems).forEach(
    (controller, index) => {
      const at = `controllers[${String(index)}]`;
      if (!isObject(controller)) {
        problems.push(`${at}: must be an object`);
        return;
      }
      problems.push(...unknownMembers(controller, controllerMembers, at));
      if (isNone(controller['apiVersion']))
        ignoredControllers.push(typeof controller['path'] === 'string' ? controller['path'] : at);
      else sources.push({ members: controller, place: { at: `${at}.`, prefix: prefixOf(controller, at, problems) } });
    },
  );
  sources.push({ members: exported, place: { at: '', prefix: '' } });
  const routes = sources.flatMap(({ members, place }) =>
    decodeEach(members, { ...place, member: 'routes' }, decodeRoute, problems),
  );
  const sockets = sources.flatMap(({ members, place }) =>
    decodeEach(members, { ...place, member: 'sockets' }, decodeSocket, problems),
  );
  if (routes.length + sockets.length > routesPerPluginMax)
    problems.push(`routes and sockets: must be at most ${String(routesPerPluginMax)} together`);
  problems.push(...repeated({ routes, sockets }));
  return { routes, sockets, ignoredControllers };
}

function isNone(apiVersion: unknown): boolean {
  return apiVersion === undefined || apiVersion === null || apiVersion === '';
}

type ListPlace = {
  readonly at: string;
  readonly countMax: number;
};

export function listOf(
  members: Readonly<Record<string, unknown>>,
  member: string,
  { at, countMax }: ListPlace,
  problems: string[],
): readonly unknown[] {
  const value = members[member];
  if (value === undefined) return [];
  if (Array.isArray(value) && value.length <= countMax) return Array.from<unknown>(value);
  problems.push(`${at}: must be an array of at most ${String(countMax)} elements`);
  return [];
}

type Decode<E> = (entry: unknown, place: SchemaPlace, problems: string[]) => E | undefined;

function decodeEach<E>(
  members: Readonly<Record<string, unknown>>,
  { at, prefix, member }: SchemaPlace & { readonly member: string },
  decode: Decode<E>,
  problems: string[],
): readonly E[] {
  const entries = listOf(members, member, { at: `${at}${member}`, countMax: routesPerPluginMax }, problems);
  return entries.flatMap(
    (entry, index) => decode(entry, { at: `${at}${member}[${String(index)}]`, prefix }, problems) ?? [],
  );
}

function prefixOf({ apiVersion, path }: Readonly<Record<string, unknown>>, at: string, problems: string[]): string {
  if (typeof apiVersion !== 'string' || !/^[^/]+\/[^/]+$/u.test(apiVersion))
    problems.push(`${at}.apiVersion: must be <group>/<version>`);
  if (typeof path !== 'string') problems.push(`${at}.path: must be a string`);
  return `/apis/${typeof apiVersion === 'string' ? apiVersion : ''}/${typeof path === 'string' ? path : ''}`;
}

const controllerMembers = new Set(['apiVersion', 'path', 'routes', 'sockets']);
const routeMembers = new Set(['method', 'path', 'handler', 'summary', 'request', 'responses']);
const socketMembers = new Set(['path', 'handler', 'summary']);
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

function decodeRoute(route: unknown, { at, prefix }: SchemaPlace, problems: string[]): RouteEndpoint | undefined {
  if (!isObject(route)) {
    problems.push(`${at}: must be an object`);
    return undefined;
  }
  problems.push(...unknownMembers(route, routeMembers, at));
  const { handler } = route;
  const method = methods.find((known) => known === route['method']);
  if (method === undefined)
    problems.push(`${at}.method: must be ${methods.join(', ')}, is ${shortJson(route['method'] ?? null)}`);
  if (!isRouteHandler(handler)) problems.push(`${at}.handler: must be a function`);
  const path = absolutePath(route, { at, prefix }, { title: method ?? 'the method', problems });
  if (method === undefined || path === undefined || !isRouteHandler(handler)) return undefined;
  // The problems of schemas name the endpoint by method and path instead of its position in the export.
  return {
    method,
    path,
    handler,
    ...summaryOf(route, at, problems),
    ...decodeRouteSchemas(route, { at: `${method} ${path}`, method, problems }),
  };
}

function decodeSocket(socket: unknown, { at, prefix }: SchemaPlace, problems: string[]): SocketEndpoint | undefined {
  if (!isObject(socket)) {
    problems.push(`${at}: must be an object`);
    return undefined;
  }
  problems.push(...unknownMembers(socket, socketMembers, at));
  const { handler } = socket;
  if (!isSocketHandler(handler)) problems.push(`${at}.handler: must be a function`);
  const path = absolutePath(socket, { at, prefix }, { title: 'the socket', problems });
  if (path === undefined || !isSocketHandler(handler)) return undefined;
  return { path, handler, ...summaryOf(socket, at, problems) };
}

/** Checks only for a function. The result of each call is decoded later. */
function isRouteHandler(value: unknown): value is RouteHandler {
  return typeof value === 'function';
}

function isSocketHandler(value: unknown): value is SocketHandler {
  return typeof value === 'function';
}

function summaryOf(
  { summary }: Readonly<Record<string, unknown>>,
  at: string,
  problems: string[],
): { readonly summary?: string } {
  if (summary === undefined) return {};
  if (typeof summary === 'string') return { summary };
  problems.push(`${at}.summary: must be a string`);
  return {};
}

type TitledProblems = {
  readonly title: string;
  readonly problems: string[];
};

function absolutePath(
  { path }: Readonly<Record<string, unknown>>,
  { at, prefix }: SchemaPlace,
  { title, problems }: TitledProblems,
): string | undefined {
  if (typeof path !== 'string') {
    problems.push(`${at}.path: must be a string`);
    return undefined;
  }
  const absolute = prefix === '' ? path : `${prefix}/${path}`.replaceAll(/\/{2,}/gu, '/').replace(/\/$/u, '');
  const problem = pathProblem(absolute);
  if (problem !== undefined) problems.push(`${at}: ${title} ${JSON.stringify(absolute)} ${problem}`);
  return absolute;
}

function pathProblem(path: string): string | undefined {
  if (path === '/api' || path.startsWith('/api/')) return 'is under /api, which is reserved for the platform';
  const [, apis, group = '', version = '', ...rest] = path.split('/');
  if (apis !== 'apis' || rest.length === 0) return 'must begin with /apis/<group>/<version>/ and have further segments';
  const wrongGroup = subdomainProblem(group);
  if (wrongGroup !== undefined) return `has the invalid group ${JSON.stringify(group)}: it ${wrongGroup}`;
  if (!/^v[1-9][0-9]*(?:(?:alpha|beta)[1-9][0-9]*)?$/u.test(version))
    return `has the invalid version ${JSON.stringify(version)}: it must have the form v1 or v1alpha1`;
  const invalid = rest.find(
    (segment) => segment === '.' || segment === '..' || !/^(?:[A-Za-z0-9._~-]+|\{[A-Za-z_]\w*\})$/u.test(segment),
  );
  return invalid === undefined
    ? undefined
    : `contains the segment ${JSON.stringify(invalid)}: a segment must be plain text or a parameter like {name}`;
}

/** Returns the problems of endpoints with the same method and path. Names of parameters do not distinguish paths. */
function repeated(endpoints: Endpoints): readonly string[] {
  const seen = new Set<string>();
  return shapesOf(endpoints)
    .filter(({ shape }) => {
      const isRepeated = seen.has(shape);
      seen.add(shape);
      return isRepeated;
    })
    .map(({ title }) => `${title}: is declared twice`);
}

/**
 * Returns the title of each endpoint, for messages, and its `shape`. Endpoints with the same shape conflict: their
 * methods are equal, and their paths differ at most in the names of parameters.
 */
export function shapesOf({
  routes,
  sockets,
}: Endpoints): readonly { readonly title: string; readonly shape: string }[] {
  const shape = (path: string): string => path.replaceAll(/\{\w+\}/gu, '{}');
  return [
    ...routes.map(({ method, path }) => ({ title: `${method} ${path}`, shape: `${method} ${shape(path)}` })),
    ...sockets.map(({ path }) => ({ title: `the socket ${path}`, shape: `the socket ${shape(path)}` })),
  ];
}
