import { routesPerPluginMax, typesPerPluginMax } from '../limits.ts';
import { isReservedGroup, subdomainProblem } from '../resource/names.ts';
import { isMembers } from '../resource/schema-check.ts';
import type { RouteDeclaration, RouteHandler } from './plugin.ts';

/** What a plugin's module says it is. Types are still as declared: `compileType` judges each. */
export type Definition = {
  readonly types: readonly unknown[];
  /** Controllers' routes and functional ones, with absolute paths. */
  readonly routes: readonly RouteDeclaration[];
  /** Controllers without an apiVersion, by path: they are never served (decision 9.5). */
  readonly ignoredControllers: readonly string[];
};

export type DecodedDefinition =
  | { readonly ok: true; readonly definition: Definition }
  | { readonly ok: false; readonly problems: readonly string[] };

const members = new Set(['types', 'controllers', 'routes', 'reconcilers']);

/** A plugin's export, decoded. It is foreign code's word: even reading a member of it may throw. */
export function decodeDefinition(exported: unknown): DecodedDefinition {
  if (!isMembers(exported)) return { ok: false, problems: ['the default export must be an object (definePlugin makes one) or a function that answers one'] };
  const problems = Object.keys(exported).filter((member) => !members.has(member)).map((member) => `${member}: is not a member of a plugin`);
  const types = listOf(exported, 'types', typesPerPluginMax, problems);
  const controllers = listOf(exported, 'controllers', routesPerPluginMax, problems);
  const routes = listOf(exported, 'routes', routesPerPluginMax, problems).map((route, place) => decodeRoute(route, '', `routes[${String(place)}]`, problems));
  listOf(exported, 'reconcilers', routesPerPluginMax, problems);
  const ignoredControllers: string[] = [];
  const controllerRoutes = controllers.flatMap((controller, place) => decodeController(controller, `controllers[${String(place)}]`, { problems, ignored: ignoredControllers }));
  const all = [...controllerRoutes, ...routes].filter((route) => route !== undefined);
  problems.push(...repeated(all));
  return problems.length === 0 ? { ok: true, definition: { types, routes: all, ignoredControllers } } : { ok: false, problems };
}

function listOf(exported: Readonly<Record<string, unknown>>, member: string, countMax: number, problems: string[]): readonly unknown[] {
  const value = exported[member];
  if (value === undefined) return [];
  if (Array.isArray(value) && value.length <= countMax) return Array.from<unknown>(value);
  problems.push(`${member}: must be an array of at most ${String(countMax)}`);
  return [];
}

type Findings = { readonly problems: string[]; readonly ignored: string[] };

function decodeController(controller: unknown, at: string, { problems, ignored }: Findings): readonly (RouteDeclaration | undefined)[] {
  if (!isMembers(controller)) {
    problems.push(`${at}: must be an object`);
    return [];
  }
  const { apiVersion, path } = controller;
  if (apiVersion === undefined || apiVersion === null || apiVersion === '') {
    ignored.push(typeof path === 'string' ? path : at);
    return [];
  }
  if (typeof apiVersion !== 'string' || !/^[^/]+\/[^/]+$/u.test(apiVersion)) problems.push(`${at}.apiVersion: must be <group>/<version>`);
  if (typeof path !== 'string') problems.push(`${at}.path: must be a string`);
  const prefix = `/apis/${typeof apiVersion === 'string' ? apiVersion : ''}/${typeof path === 'string' ? path : ''}`;
  return listOf(controller, 'routes', routesPerPluginMax, problems).map((route, place) => decodeRoute(route, prefix, `${at}.routes[${String(place)}]`, problems));
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

function decodeRoute(route: unknown, prefix: string, at: string, problems: string[]): RouteDeclaration | undefined {
  if (!isMembers(route)) {
    problems.push(`${at}: must be an object`);
    return undefined;
  }
  const { path, handler } = route;
  const method = methods.find((known) => known === route['method']);
  if (method === undefined) problems.push(`${at}.method: must be ${methods.join(', ')}`);
  if (!isHandler(handler)) problems.push(`${at}.handler: must be a function`);
  if (typeof path !== 'string') problems.push(`${at}.path: must be a string`);
  if (method === undefined || typeof path !== 'string' || !isHandler(handler)) return undefined;
  const absolute = prefix === '' ? path : `${prefix}/${path}`.replaceAll(/\/{2,}/gu, '/').replace(/\/$/u, '');
  const problem = pathProblem(absolute);
  if (problem !== undefined) problems.push(`${at}: ${method} ${JSON.stringify(absolute)} ${problem}`);
  return { method, path: absolute, handler };
}

/** As far as can be told without calling it: what it answers is decoded by whoever calls it. */
function isHandler(value: unknown): value is RouteHandler {
  return typeof value === 'function';
}

function pathProblem(path: string): string | undefined {
  if (path === '/api' || path.startsWith('/api/')) return 'is under /api, which is the platform\'s';
  const [, apis, group = '', version = '', ...rest] = path.split('/');
  if (apis !== 'apis' || rest.length === 0) return 'must begin with /apis/<group>/<version>/ and go on';
  const wrongGroup = subdomainProblem(group);
  if (wrongGroup !== undefined) return `names the group ${JSON.stringify(group)}, which ${wrongGroup}`;
  if (!/^v[1-9][0-9]*(?:(?:alpha|beta)[1-9][0-9]*)?$/u.test(version)) return `names the version ${JSON.stringify(version)}, which must be of the form v1 or v1alpha1`;
  const odd = rest.find((segment) => segment === '.' || segment === '..' || !/^(?:[A-Za-z0-9._~-]+|\{[A-Za-z_]\w*\})$/u.test(segment));
  return odd === undefined ? undefined : `holds the segment ${JSON.stringify(odd)}: a segment is plain text or a parameter like {name}`;
}

/** One method and path twice; a parameter's name makes no difference. */
function repeated(routes: readonly RouteDeclaration[]): readonly string[] {
  const seen = new Set<string>();
  return routes.filter((route) => {
    const shape = routeShape(route);
    const isRepeated = seen.has(shape);
    seen.add(shape);
    return isRepeated;
  }).map(({ method, path }) => `${method} ${path}: is declared twice`);
}

export function routeShape({ method, path }: RouteDeclaration): string {
  return `${method} ${path.replaceAll(/\{\w+\}/gu, '{}')}`;
}

/** Who owns a group, and which plural names in it are generated APIs. */
export type GroupOwner = { readonly plugin: string; readonly plurals: ReadonlySet<string> };

/** The routes a plugin may not serve though their form is right: another's group, a reserved one, a generated API's path. */
export function routeProblems(
  routes: readonly RouteDeclaration[], declarer: { readonly plugin: string; readonly bundled: boolean; readonly domain: string },
  ownersOf: (group: string, version: string) => readonly GroupOwner[],
): readonly string[] {
  return routes.flatMap(({ method, path }) => {
    const [, , group = '', version = '', resource = '', ...rest] = path.split('/');
    const owners = ownersOf(group, version);
    const other = owners.find(({ plugin }) => plugin !== declarer.plugin);
    if (!declarer.bundled && isReservedGroup(group, declarer.domain)) return [`${method} ${path}: the group is reserved for the platform`];
    if (!declarer.bundled && other !== undefined) return [`${method} ${path}: the group belongs to ${other.plugin === 'platform' ? 'the platform' : `the plugin ${other.plugin}`}`];
    const isGenerated = owners.some(({ plurals }) => plurals.has(resource)) && isGeneratedPath(method, rest);
    return isGenerated ? [`${method} ${path}: is a generated API, which no route can replace`] : [];
  });
}

/** Of the segments after the plural: the collection, an item, or the parts of one that the platform serves. */
function isGeneratedPath(method: string, rest: readonly string[]): boolean {
  if (rest.length === 0) return method === 'GET' || method === 'POST' || method === 'DELETE';
  if (rest.length === 1) return method !== 'POST';
  return rest.length === 2 && (rest[1] === 'status' || rest[1] === 'history');
}
