import { typesPerPluginMax } from '../../limits/objects.ts';
import { isReservedGroup } from '../../resource/type/names.ts';
import { otherWords } from '../../resource/schema/near-word.ts';
import { isMembers } from '../../resource/schema/schema-check.ts';
import { decodeEndpoints, listOf, type DecodedEndpoints } from './decode-endpoints.ts';
import { decodeReconcilers } from './decode-reconcilers.ts';
import type { Endpoints } from '../api/endpoints.ts';
import type { MountedReconciler } from '../api/reconciler-mounts.ts';

/** What a plugin's module says it is. Types are still as declared: `compileType` judges each. */
export type Definition = DecodedEndpoints & {
  readonly types: readonly unknown[];
  readonly reconcilers: readonly MountedReconciler[];
  /** What ends the plugin's own timers and listeners. It is foreign code: what it answers may be anything. */
  readonly stop: (() => unknown) | undefined;
};

export type DecodedDefinition =
  | { readonly ok: true; readonly definition: Definition }
  | { readonly ok: false; readonly problems: readonly string[] };

const members = new Set(['types', 'controllers', 'routes', 'sockets', 'reconcilers', 'stop']);

/** A plugin's export, decoded. It is foreign code's word: even reading a member of it may throw. */
export function decodeDefinition(exported: unknown): DecodedDefinition {
  if (!isMembers(exported)) return { ok: false, problems: ['the default export must be an object (definePlugin makes one) or a function that returns one'] };
  const problems = Object.keys(exported).filter((member) => !members.has(member)).map((member) => `${member}: is not a member of a plugin${otherWords(member, [...members])}`);
  const types = listOf(exported, 'types', { at: 'types', countMax: typesPerPluginMax }, problems);
  const reconcilers = decodeReconcilers(exported['reconcilers'], types, problems);
  const endpoints = decodeEndpoints(exported, problems);
  const stop = decodeStop(exported, problems);
  return problems.length === 0 ? { ok: true, definition: { ...endpoints, types, reconcilers, stop } } : { ok: false, problems };
}

function decodeStop(exported: Readonly<Record<string, unknown>>, problems: string[]): (() => unknown) | undefined {
  const { stop } = exported;
  if (stop === undefined) return undefined;
  // Called as a method, so that a definition made of a class finds its own members.
  if (typeof stop === 'function') return () => { const ended: unknown = Reflect.apply(stop, exported, []); return ended; };
  problems.push('stop: must be a function');
  return undefined;
}

/** Who owns a group, and which plural names in it are generated APIs. */
export type GroupOwner = { readonly plugin: string; readonly plurals: ReadonlySet<string> };
export type EndpointDeclarer = { readonly plugin: string; readonly bundled: boolean; readonly domain: string };

/** What keeps a plugin's own APIs from being served. `ownersOf` a group and version: the plugins with types there. */
export function endpointProblems(
  { routes, sockets }: Endpoints,
  declarer: EndpointDeclarer,
  ownersOf: (group: string, version: string) => readonly GroupOwner[],
): readonly string[] {
  const asked = [
    ...routes.map(({ method, path }) => ({ method, path, title: `${method} ${path}` })),
    // A WebSocket at a generated path is a watch.
    ...sockets.map(({ path }) => ({ method: 'GET', path, title: `the socket ${path}` })),
  ];
  return asked.flatMap(({ method, path, title }) => {
    const [, , group = '', version = '', resource = '', ...rest] = path.split('/');
    const owners = ownersOf(group, version);
    const other = [...owners, ...ownersOf(servedGroup(group), version)].find(({ plugin }) => plugin !== declarer.plugin);
    if (!declarer.bundled && isReservedGroup(group, declarer.domain)) return [`${title}: the group is reserved for the platform`];
    if (!declarer.bundled && other !== undefined) return [`${title}: the group belongs to ${other.plugin === 'platform' ? 'the platform' : `the plugin ${other.plugin}`}`];
    const isGenerated = owners.some(({ plurals }) => plurals.has(resource)) && isGeneratedPath(method, rest);
    return isGenerated ? [`${title}: is a generated API; a route cannot replace it`] : [];
  });
}

/** The group that one of the recommended groups for a plugin's own APIs is about (seed 4.3). */
function servedGroup(group: string): string {
  return group.replace(/^(?:console\.|uc\.)?api\./u, '');
}

/** Of the segments after the plural: the collection, an item, or the parts of one that the platform serves. */
function isGeneratedPath(method: string, rest: readonly string[]): boolean {
  if (rest.length === 0) return method === 'GET' || method === 'POST' || method === 'DELETE';
  if (rest.length === 1) return method !== 'POST';
  return rest.length === 2 && (rest[1] === 'status' || rest[1] === 'history');
}
