import { includesType, type MediaRange } from '../body/accept-header.ts';
import type { ApiGroup, ApiResource, ApiVersion } from './api-catalog.ts';
import type { DiscoveryDocument } from './plain-documents.ts';

/** The versions of `apidiscovery.k8s.io`. Their documents differ only in the name of the version. */
const aggregatedVersions = ['v2', 'v2beta1'] as const;
export type AggregatedVersion = (typeof aggregatedVersions)[number];
export type DiscoveryForm = AggregatedVersion | 'plain';

const group = 'apidiscovery.k8s.io';
const kind = 'APIGroupDiscoveryList';

/**
 * Returns the media type of a form. Go clients compare the media type as text, so this order and the absence of spaces
 * matter.
 */
export function mediaTypeOf(form: DiscoveryForm): string {
  return form === 'plain' ? 'application/json' : `application/json;g=${group};v=${form};as=${kind}`;
}

/** Returns the form of the first range that this server supports; `plain` without such a range. */
export function formOf(ranges: readonly MediaRange[]): DiscoveryForm {
  for (const range of ranges) {
    if (!includesType(range, 'application/json')) continue;
    const { parameters } = range;
    if (!parameters.has('as')) return 'plain';
    const version = aggregatedVersions.find((each) => each === parameters.get('v'));
    if (version !== undefined && parameters.get('as') === kind && parameters.get('g') === group) return version;
  }
  return 'plain';
}

export function groupDiscoveryList(form: AggregatedVersion, groups: readonly ApiGroup[]): DiscoveryDocument {
  return {
    kind,
    apiVersion: `${group}/${form}`,
    metadata: {},
    items: groups.map(groupItem),
  };
}

/** As in Kubernetes, the core group has no name. */
function groupItem({ group: name, versions }: ApiGroup): DiscoveryDocument {
  return {
    metadata: { ...(name === '' ? {} : { name }), creationTimestamp: null },
    versions: versions.map(versionItem),
  };
}

function versionItem({ version, resources }: ApiVersion): DiscoveryDocument {
  return { version, resources: resources.map(resourceItem), freshness: 'Current' };
}

function resourceItem(resource: ApiResource): DiscoveryDocument {
  const { plural, singular, verbs, shortNames, categories, subresources } = resource;
  return {
    resource: plural,
    responseKind: kindOf(resource),
    scope: 'Cluster',
    singularResource: singular,
    verbs,
    // JSON omits members with the value undefined.
    shortNames,
    categories,
    ...(subresources.length === 0
      ? {}
      : {
          subresources: subresources.map((sub) => ({
            subresource: sub.name,
            responseKind: kindOf(sub),
            verbs: sub.verbs,
          })),
        }),
  };
}

function kindOf(named: Pick<ApiResource, 'group' | 'version' | 'kind'>): DiscoveryDocument {
  return { group: named.group, version: named.version, kind: named.kind };
}
