import type { TypeRegistry } from '../../plugin/registry/type-registry.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';

/**
 * The discovery documents that Kubernetes' clients read first (`/api`, `/apis` and below), from the types served now.
 */
export type DiscoveryDocument = Readonly<Record<string, unknown>>;

const typeVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const statusVerbs = ['get', 'patch', 'update'];

export function coreVersions(registry: TypeRegistry): DiscoveryDocument {
  return {
    kind: 'APIVersions',
    apiVersion: 'v1',
    versions: versionsOf(served(registry).filter(({ group }) => group === '')),
    serverAddressByClientCIDRs: [],
  };
}

export function groupList(registry: TypeRegistry): DiscoveryDocument {
  const groups = [...new Set(served(registry).map(({ group }) => group))].filter((group) => group !== '').sort();
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map((group) => groupMembers(registry, group)) };
}

/** Undefined for a group without served types. */
export function groupDocument(registry: TypeRegistry, group: string): DiscoveryDocument | undefined {
  if (!served(registry).some((type) => type.group === group)) return undefined;
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupMembers(registry, group) };
}

/**
 * Undefined for a version without served types. A subresource follows its resource, since clients take the first entry
 * of a kind.
 */
export function resourceList(registry: TypeRegistry, group: string, version: string): DiscoveryDocument | undefined {
  const types = served(registry).filter((type) => type.group === group && type.version === version);
  const [first] = types;
  if (first === undefined) return undefined;
  const resources = types.sort((left, right) => (left.plural < right.plural ? -1 : 1)).flatMap(rows);
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: first.apiVersion, resources };
}

function rows(type: ResourceType): readonly DiscoveryDocument[] {
  const { plural, singular, kind } = type;
  const row = { name: plural, singularName: singular, namespaced: false, kind, verbs: typeVerbs };
  return type.statusSubresource
    ? [row, { name: `${plural}/status`, singularName: '', namespaced: false, kind, verbs: statusVerbs }]
    : [row];
}

function groupMembers(registry: TypeRegistry, group: string): DiscoveryDocument {
  const versions = versionsOf(served(registry).filter((type) => type.group === group)).map((version) => ({
    groupVersion: `${group}/${version}`,
    version,
  }));
  return { name: group, versions, preferredVersion: versions[0] };
}

function served(registry: TypeRegistry): ResourceType[] {
  return registry
    .all()
    .filter(({ serving }) => serving)
    .map(({ type }) => type);
}

function versionsOf(types: readonly ResourceType[]): readonly string[] {
  return [...new Set(types.map(({ version }) => version))].sort(byPriority);
}

/** Kubernetes' order: releases before betas before alphas, higher numbers first, others last by name. */
function byPriority(left: string, right: string): number {
  const [a, b] = [rank(left), rank(right)];
  for (const [place, value] of a.entries()) {
    const difference = (b[place] ?? 0) - value;
    if (difference !== 0) return difference;
  }
  return left < right ? -1 : 1;
}

function rank(version: string): readonly number[] {
  const parts = /^v(\d+)(?:(alpha|beta)(\d+))?$/u.exec(version);
  if (parts === null) return [-1, 0, 0];
  const stage = parts[2] === undefined ? 2 : parts[2] === 'beta' ? 1 : 0;
  return [stage, Number(parts[1]), Number(parts[3] ?? 0)];
}
