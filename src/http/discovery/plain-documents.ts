import { groupVersionOf } from '../../resource/type/type-declaration.ts';
import type { ApiGroup, ApiResource, ApiVersion } from './api-catalog.ts';

/** A discovery document, plain or aggregated. */
export type DiscoveryDocument = Readonly<Record<string, unknown>>;

/** Returns the document at `/api`. */
export function coreVersions({ versions }: Pick<ApiGroup, 'versions'>): DiscoveryDocument {
  return {
    kind: 'APIVersions',
    apiVersion: 'v1',
    versions: versions.map(({ version }) => version),
    serverAddressByClientCIDRs: [],
  };
}

/** Returns the document at `/apis`, which omits the core group. */
export function groupList(groups: readonly ApiGroup[]): DiscoveryDocument {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupMembers) };
}

/** Returns the document at `/apis/<group>`. */
export function groupDocument(group: ApiGroup): DiscoveryDocument {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupMembers(group) };
}

/**
 * Returns the resources of one version. A subresource follows its resource, because clients use the first entry of a
 * kind.
 */
export function resourceList(group: string, { version, resources }: ApiVersion): DiscoveryDocument {
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: groupVersionOf(group, version),
    resources: resources.flatMap(rows),
  };
}

function rows(resource: ApiResource): DiscoveryDocument[] {
  const { group, version, plural, singular, kind, verbs, shortNames, categories, subresources } = resource;
  return [
    // JSON omits members with the value undefined.
    { name: plural, singularName: singular, namespaced: false, kind, verbs, shortNames, categories },
    ...subresources.map((sub) => ({
      name: `${plural}/${sub.name}`,
      singularName: '',
      namespaced: false,
      // As in Kubernetes, group and version are present only if they differ from those of the list.
      ...(sub.group === group && sub.version === version ? {} : { group: sub.group, version: sub.version }),
      kind: sub.kind,
      verbs: sub.verbs,
    })),
  ];
}

function groupMembers({ group, versions }: ApiGroup): DiscoveryDocument {
  const members = versions.map(({ version }) => ({ groupVersion: groupVersionOf(group, version), version }));
  return { name: group, versions: members, preferredVersion: members[0] };
}
