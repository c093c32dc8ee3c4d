import type { TypeRegistry } from '../../plugin/registry/type-registry.ts';
import type { ResourceType } from '../../resource/type/resource-type.ts';

/** A resource that discovery lists. */
export type ApiResource = {
  /** The group; `''` is the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources: readonly ApiSubresource[];
  /** Set if the version is not the preferred version of the type. */
  readonly isOther?: true;
};

/**
 * `name` is the last segment of the subresource's path. `group`, `version` and `kind` name the kind of its responses.
 */
export type ApiSubresource = {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
};

export type ApiVersion = {
  readonly version: string;
  readonly resources: readonly ApiResource[];
};
export type ApiGroup = {
  readonly group: string;
  readonly versions: readonly ApiVersion[];
};

const typeVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
/** The verbs of a type whose schema is `readOnly`: only the platform writes its objects, and clients delete them. */
const readOnlyVerbs = ['delete', 'deletecollection', 'get', 'list', 'watch'];
const partVerbs = ['get', 'patch', 'update'];

/**
 * Returns the served groups by name, each with its preferred version first. `others` are resources without a registered
 * type. A registered type replaces a resource with the same path.
 */
export function catalogOf(registry: TypeRegistry, others: readonly ApiResource[]): readonly ApiGroup[] {
  const resources = new Map(
    [...others, ...servedTypes(registry)].map((resource) => [
      `${resource.group}/${resource.version}/${resource.plural}`,
      resource,
    ]),
  );
  return grouped([...resources.values()], ({ group }) => group, byText).map(([group, members]) => ({
    group,
    versions: byPreference(grouped(members, ({ version }) => version, byPriority)).map(([version, rows]) => ({
      version,
      resources: rows.toSorted((left, right) => byText(left.plural, right.plural)),
    })),
  }));
}

function grouped<T>(
  values: readonly T[],
  keyOf: (value: T) => string,
  order: (left: string, right: string) => number,
): readonly (readonly [key: string, members: readonly T[]])[] {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const members = groups.get(keyOf(value));
    if (members === undefined) groups.set(keyOf(value), [value]);
    else members.push(value);
  }
  return [...groups].sort(([left], [right]) => order(left, right));
}

type VersionMembers = readonly (readonly [version: string, members: readonly ApiResource[]])[];

/** Puts the versions that are the preferred version of at least one type first. */
function byPreference(versions: VersionMembers): VersionMembers {
  const isPreferred = ([, members]: VersionMembers[number]): boolean => members.some(({ isOther }) => isOther !== true);
  return [...versions.filter(isPreferred), ...versions.filter((version) => !isPreferred(version))];
}

function servedTypes(registry: TypeRegistry): readonly ApiResource[] {
  return registry
    .versions()
    .filter(({ serving }) => serving)
    .map(({ type }) => resourceOf(type));
}

const scale = { group: 'autoscaling', version: 'v1', kind: 'Scale' } as const;

function resourceOf(type: ResourceType): ApiResource {
  const { group, version, plural, singular, kind, shortNames, categories } = type;
  const isReadOnly = type.schema['readOnly'] === true;
  return {
    group,
    version,
    plural,
    singular,
    kind,
    verbs: isReadOnly ? readOnlyVerbs : typeVerbs,
    ...(type.preferred === undefined ? {} : { isOther: true as const }),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    subresources: [
      { name: 'history', group, version, kind: 'ObjectHistory', verbs: ['get'] },
      ...(isReadOnly ? [] : [{ name: 'restore', group, version, kind, verbs: ['create'] }]),
      ...(type.scale === undefined ? [] : [{ ...scale, name: 'scale', verbs: partVerbs }]),
      ...(type.statusSubresource ? [{ name: 'status', group, version, kind, verbs: partVerbs }] : []),
    ],
  };
}

function byText(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}

/** Compares versions in Kubernetes' order: releases, betas, alphas, other names; higher numbers first. */
function byPriority(left: string, right: string): number {
  const [a, b] = [rank(left), rank(right)];
  for (const [index, value] of a.entries()) {
    const difference = (b[index] ?? 0) - value;
    if (difference !== 0) return difference;
  }
  return byText(left, right);
}

function rank(version: string): readonly number[] {
  const parts = /^v(\d+)(?:(alpha|beta)(\d+))?$/u.exec(version);
  if (parts === null) return [-1, 0, 0];
  const stage = parts[2] === undefined ? 2 : parts[2] === 'beta' ? 1 : 0;
  return [stage, Number(parts[1]), Number(parts[3] ?? 0)];
}
