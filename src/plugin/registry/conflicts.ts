import type { ResourceType } from '../../resource/type/resource-type.ts';
import { groupOfKey } from '../../resource/type/index-entry.ts';
import { otherWords } from '../../resource/schema/suggestions.ts';
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
    const present = registry.all().find(({ type: other }) => isSameName(type, other))?.type.plugin;
    return present === undefined || present === plugin
      ? []
      : [`type ${type.kind} of ${type.group} (${type.plural}) already exists in ${ownerText(present)}`];
  });
  return [...taken, ...circleProblems(types, others)];
}

/** Returns the types with the plural or the kind of an earlier type, with a message for each. */
export function repeatedTypes(
  types: readonly ResourceType[],
): readonly { readonly type: ResourceType; readonly text: string }[] {
  return types.flatMap((type, index) => {
    const earlier = types.slice(0, index).find((other) => isSameName(type, other));
    return earlier === undefined ? [] : [{ type, text: repetitionText(type, earlier) }];
  });
}

/** Returns the references to missing types in groups of the plugin. Other plugins may add the types of other groups. */
export function unknownTargets({ kind, references }: ResourceType, types: readonly ResourceType[]): readonly string[] {
  const groups = new Set(types.map(({ group }) => group));
  const keys = [...new Set(types.map(({ key }) => key))];
  return references
    .filter(({ to }) => groups.has(groupOfKey(to)) && !keys.includes(to))
    .map(({ field, to }) => `type ${kind}: references: ${field}: the type ${to} does not exist${otherWords(to, keys)}`);
}

function isSameName(type: ResourceType, other: ResourceType): boolean {
  return other.key === type.key || (other.group === type.group && other.kind === type.kind);
}

function repetitionText({ kind, group, plural }: ResourceType, earlier: ResourceType): string {
  if (earlier.kind === kind && earlier.plural === plural)
    return `type ${kind} of ${group} (${plural}) is declared twice: remove one of the declarations`;
  const same = earlier.plural === plural ? `the plural ${plural}` : `the kind ${kind}`;
  const named = earlier.plural === plural ? `the type ${earlier.kind}` : `the type with the plural ${earlier.plural}`;
  return `type ${kind} of ${group} (${plural}) has ${same}, as ${named}: choose another one`;
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
