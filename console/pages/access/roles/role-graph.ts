import type { Role, RoleMap } from '../access-objects.ts';

/**
 * A role in the tree of included roles. `repeated`: the tree shows the inclusions of the role elsewhere. `cycle`: the
 * role includes itself through the roles above it. `missing`: no role has this name.
 */
export type IncludedRole = {
  readonly name: string;
  readonly role: Role | undefined;
  readonly how: Inclusion['how'];
  readonly state: 'open' | 'repeated' | 'cycle' | 'missing';
  readonly children: readonly IncludedRole[];
};

/** A role that another includes. `aggregated`: the role adds itself to the other by a label. */
export type Inclusion = { readonly name: string; readonly how: 'dependency' | 'aggregated' };

/** Returns a function that returns the roles that a role includes directly, without hidden roles. */
export function inclusionsOf(roles: RoleMap): (name: string) => readonly Inclusion[] {
  const aggregated = new Map<string, string[]>();
  for (const { name, aggregatesTo } of roles.values())
    for (const target of aggregatesTo) aggregated.set(target, [...(aggregated.get(target) ?? []), name]);
  return (name) =>
    [
      ...(roles.get(name)?.dependencies ?? []).map((each) => ({ name: each, how: 'dependency' }) as const),
      ...(aggregated.get(name) ?? []).map((each) => ({ name: each, how: 'aggregated' }) as const),
    ].filter((each) => roles.get(each.name)?.isHidden !== true);
}

/**
 * Returns the tree of the roles that a role includes. The inclusions of each role are shown only once, so cycles end.
 */
export function includedRoles(root: string, roles: RoleMap): readonly IncludedRole[] {
  const inclusions = inclusionsOf(roles);
  const opened = new Set([root]);
  const childrenOf = (name: string, above: readonly string[]): readonly IncludedRole[] =>
    inclusions(name).map(({ name: child, how }) => {
      const role = roles.get(child);
      const node = { name: child, role, how };
      if (role === undefined) return { ...node, state: 'missing', children: [] };
      if (above.includes(child)) return { ...node, state: 'cycle', children: [] };
      if (opened.has(child)) return { ...node, state: 'repeated', children: [] };
      opened.add(child);
      return { ...node, state: 'open', children: childrenOf(child, [...above, child]) };
    });
  return childrenOf(root, [root]);
}

/**
 * Returns, for each role that the given roles include directly or indirectly, the role that includes it. A role that
 * includes itself does not count.
 */
export function includedBy(names: readonly string[], roles: RoleMap): ReadonlyMap<string, string> {
  const inclusions = inclusionsOf(roles);
  const by = new Map<string, string>();
  // The iteration also visits the entries that are added during the loop.
  const visited = [...names];
  for (const name of visited)
    for (const { name: included } of inclusions(name)) {
      if (by.has(included) || included === name) continue;
      by.set(included, name);
      visited.push(included);
    }
  return by;
}

/** Returns the visible roles that include a role directly by their dependencies. */
export function dependentsOf(name: string, roles: readonly Role[]): readonly Role[] {
  return roles.filter(({ dependencies }) => dependencies.includes(name));
}
