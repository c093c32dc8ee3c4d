import type { RemoteClient, TypeName } from 'ledgerplane/client';

/** A served type, as discovery lists it. */
export type ServedType = TypeName & {
  readonly kind: string;
  /** The kind in the language of the page. */
  readonly title: string;
  readonly singular: string;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  /** The names of the subresources, for example `status` and `history`. */
  readonly subresources: readonly string[];
};

/** The types of one group. */
export type TypeGroup = {
  /** The name of the group; `''` for the core group. */
  readonly group: string;
  readonly types: readonly ServedType[];
};

type DiscoveryList = {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly { readonly version: string; readonly resources: readonly DiscoveredResource[] }[];
  }[];
};
type DiscoveredResource = {
  readonly resource: string;
  readonly responseKind: { readonly kind: string };
  readonly singularResource: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly subresources?: readonly { readonly subresource: string }[];
};

const discovery = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/**
 * Returns all types with objects that can be listed, by group, each in its preferred version. The core group is first.
 */
export async function readTypes(client: RemoteClient, signal: AbortSignal): Promise<readonly TypeGroup[]> {
  const lists = await Promise.all(
    ['/api', '/apis'].map(async (path) => client.request<DiscoveryList>(path, { accept: discovery, signal })),
  );
  return lists
    .flatMap((list) => list?.items ?? [])
    .map(({ metadata: { name: group = '' }, versions }) => ({ group, types: typesIn(group, versions) }))
    .filter(({ types }) => types.length > 0);
}

function typesIn(group: string, versions: DiscoveryList['items'][number]['versions']): readonly ServedType[] {
  const types = new Map<string, ServedType>();
  // The preferred version is first.
  for (const { version, resources } of versions)
    for (const found of resources)
      if (found.verbs.includes('list') && !types.has(found.resource))
        types.set(found.resource, {
          group,
          version,
          plural: found.resource,
          kind: found.responseKind.kind,
          title: found.responseKind.kind,
          singular: found.singularResource,
          verbs: found.verbs,
          shortNames: found.shortNames ?? [],
          subresources: (found.subresources ?? []).map(({ subresource }) => subresource),
        });
  return [...types.values()];
}

/** Returns the segment of a group in addresses of the console: `-` for the core group, which has no name. */
export function groupSegment(group: string): string {
  return group === '' ? '-' : group;
}

/** Returns the type's path in addresses of the console: `<group>/<version>/<plural>`. */
export function typePath({ group, version, plural }: TypeName): string {
  return [groupSegment(group), version, plural].map(encodeURIComponent).join('/');
}

/** Returns the path of a type's objects, or of one object, in the API. */
export function apiPath({ group, version, plural }: TypeName, ...more: readonly string[]): string {
  const root = group === '' ? ['api'] : ['apis', group];
  return [...root, version, plural, ...more].map((part) => `/${encodeURIComponent(part)}`).join('');
}

export function isSameType(left: TypeName, right: TypeName): boolean {
  return left.group === right.group && left.version === right.version && left.plural === right.plural;
}
