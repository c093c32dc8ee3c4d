import type { ResourceType } from '../../resource/type/resource-type.ts';
import { circleProblems } from '../../resource/references/reference-circles.ts';
import { shapesOf } from '../load/decode-endpoints.ts';
import { endpointProblems, type EndpointDeclarer, type GroupOwner } from '../load/definition.ts';
import type { Endpoints } from '../api/endpoints.ts';
import type { TypeRegistry } from './type-registry.ts';

/** Maps the shape of each route and socket (`shapesOf`) to the plugin that declares the endpoint. */
export type RouteOwners = Map<string, string>;

/** Returns messages about types that another plugin or the platform already has, and about cycles of references. */
export function typeConflicts(
  types: readonly ResourceType[],
  plugin: string,
  registry: TypeRegistry,
): readonly string[] {
  const others = registry.all().flatMap(({ type }) => (type.plugin === plugin ? [] : [type]));
  const taken = types.flatMap((type) => {
    const present = registry
      .all()
      .find(({ type: other }) => other.key === type.key || (other.group === type.group && other.kind === type.kind))
      ?.type.plugin;
    return present === undefined || present === plugin
      ? []
      : [`type ${type.kind} of ${type.group} (${type.plural}) already exists in ${ownerText(present)}`];
  });
  return [...taken, ...circleProblems(types, others)];
}

type Registrations = {
  readonly registry: TypeRegistry;
  readonly routeOwners: RouteOwners;
};

/** Returns messages about routes and sockets that the plugin must not serve, or that another plugin already has. */
export function routeConflicts(
  endpoints: Endpoints,
  declarer: EndpointDeclarer,
  { registry, routeOwners }: Registrations,
): readonly string[] {
  const refused = endpointProblems(endpoints, declarer, (group, version) => ownersOf(registry, group, version));
  const conflicting = shapesOf(endpoints).flatMap(({ shape, title }) => {
    const owner = routeOwners.get(shape);
    return owner === undefined || owner === declarer.plugin
      ? []
      : [`${title}: the plugin ${owner} already has this route`];
  });
  return [...refused, ...conflicting];
}

function ownersOf(registry: TypeRegistry, group: string, version: string): readonly GroupOwner[] {
  const owners = new Map<string, Map<string, ResourceType>>();
  for (const { type } of registry.versions()) {
    if (type.group !== group) continue;
    const types = owners.get(type.plugin) ?? new Map<string, ResourceType>();
    if (type.version === version) types.set(type.plural, type);
    owners.set(type.plugin, types);
  }
  return [...owners].map(([plugin, types]) => ({ plugin, types }));
}

function ownerText(owner: string): string {
  return owner === 'platform' ? 'the platform' : `the plugin ${owner}`;
}
