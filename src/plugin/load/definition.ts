import { isObject } from '../../base/guards.ts';
import { typesPerPluginMax } from '../../limits/objects.ts';
import { isReservedGroup } from '../../resource/type/names.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';
import { otherWords } from '../../resource/schema/suggestions.ts';
import { decodeEndpoints, listOf, type DecodedEndpoints } from './decode-endpoints.ts';
import { decodeMigrations } from './decode-migrations.ts';
import { decodeReconcilers } from './decode-reconcilers.ts';
import type { Endpoints } from '../api/endpoints.ts';
import type { MountedMigration } from '../api/migration-mounts.ts';
import type { MountedReconciler } from '../api/reconciler-mounts.ts';

/** A plugin's decoded export. The types are not checked yet. */
export type Definition = DecodedEndpoints & {
  readonly types: readonly unknown[];
  readonly reconcilers: readonly MountedReconciler[];
  readonly migrations: readonly MountedMigration[];
  /** Ends the plugin's timers and listeners. The function is foreign code and may return any value. */
  readonly stop: (() => unknown) | undefined;
};

export type DecodedDefinition =
  { readonly ok: true; readonly definition: Definition } | { readonly ok: false; readonly problems: readonly string[] };

const members = new Set(['types', 'controllers', 'routes', 'sockets', 'reconcilers', 'migrations', 'stop']);

/** Decodes a plugin's export. The export is a foreign object: even reading a member may throw. */
export function decodeDefinition(exported: unknown): DecodedDefinition {
  if (!isObject(exported))
    return {
      ok: false,
      problems: ['the default export must be a plugin definition (see definePlugin) or a function that returns one'],
    };
  const problems = Object.keys(exported)
    .filter((member) => !members.has(member))
    .map((member) => `${member}: is not known${otherWords(member, [...members])}`);
  const types = listOf(exported, 'types', { at: 'types', countMax: typesPerPluginMax }, problems);
  const reconcilers = decodeReconcilers(exported['reconcilers'], types, problems);
  const migrations = decodeMigrations(exported['migrations'], types, problems);
  const endpoints = decodeEndpoints(exported, problems);
  const stop = decodeStop(exported, problems);
  return problems.length === 0
    ? { ok: true, definition: { ...endpoints, types, reconcilers, migrations, stop } }
    : { ok: false, problems };
}

function decodeStop(exported: Readonly<Record<string, unknown>>, problems: string[]): (() => unknown) | undefined {
  const { stop } = exported;
  if (stop === undefined) return undefined;
  // Calls `stop` with the export as `this`, so that the export may be an instance of a class.
  if (typeof stop === 'function')
    return () => {
      const ended: unknown = Reflect.apply(stop, exported, []);
      return ended;
    };
  problems.push('stop: must be a function');
  return undefined;
}

/** A plugin with types in an API group. `types` contains the types in one version of the group, by plural. */
export type GroupOwner = {
  readonly plugin: string;
  readonly types: ReadonlyMap<string, Pick<ResourceType, 'scale'>>;
};
export type EndpointDeclarer = {
  readonly plugin: string;
  readonly bundled: boolean;
  readonly domain: string;
};

/**
 * Returns the reasons why a plugin's routes and sockets cannot be served. `ownersOf` returns the plugins with types in
 * a group, each with its types in the given version.
 */
export function endpointProblems(
  { routes, sockets }: Endpoints,
  declarer: EndpointDeclarer,
  ownersOf: (group: string, version: string) => readonly GroupOwner[],
): readonly string[] {
  const asked = [
    ...routes.map(({ method, path }) => ({ method, path, title: `${method} ${path}` })),
    // A WebSocket handshake is a GET, so a socket conflicts with a GET route at its path.
    ...sockets.map(({ path }) => ({ method: 'GET', path, title: `the socket ${path}` })),
  ];
  return asked.flatMap(({ method, path, title }) => {
    const [, , group = '', version = '', resource = '', ...rest] = path.split('/');
    const owners = ownersOf(group, version);
    const other = [...owners, ...ownersOf(servedGroup(group), version)].find(
      ({ plugin }) => plugin !== declarer.plugin,
    );
    if (!declarer.bundled && isReservedGroup(group, declarer.domain))
      return [`${title}: the group is reserved for the platform`];
    if (!declarer.bundled && other !== undefined)
      return [
        `${title}: the group belongs to ${other.plugin === 'platform' ? 'the platform' : `the plugin ${other.plugin}`}`,
      ];
    const type = owners.map(({ types }) => types.get(resource)).find((found) => found !== undefined);
    return type !== undefined && isGeneratedPath(method, rest)
      ? [`${title}: is a generated API; a route cannot replace it`]
      : [];
  });
}

/**
 * Removes the recommended prefix of a group of custom APIs: `api.`, `console.api.` or `uc.api.` (docs/spec/seed.md,
 * 4.3). The result is the group of the types that the APIs serve.
 */
function servedGroup(group: string): string {
  return group.replace(/^(?:console\.|uc\.)?api\./u, '');
}

/** Subresources that are reserved for all types, because a later version of a type may have them. */
const reservedSubresources: ReadonlySet<string> = new Set(['history', 'restore', 'scale', 'status']);

/**
 * Returns whether a route would replace the generated API of the collection, of an item, or of a reserved subresource.
 * `rest` contains the segments of the path after the plural.
 */
function isGeneratedPath(method: string, rest: readonly string[]): boolean {
  if (rest.length === 0) return method === 'GET' || method === 'POST' || method === 'DELETE';
  if (rest.length === 1) return method !== 'POST';
  const [, subresource] = rest;
  return rest.length === 2 && reservedSubresources.has(subresource ?? '');
}
