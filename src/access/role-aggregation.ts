import type { Role } from './role.ts';
import type { Rule } from './rule.ts';
import { superRole } from './role-names.ts';

/** Looks up roles, and the roles that are aggregated to a role. */
export type Roles<R> = {
  role(name: string): R | undefined;
  /** Returns the names of the roles that are aggregated to the role `name`. */
  aggregatedTo(name: string): Iterable<string>;
};

export type Closure<R> = {
  /**
   * All visited names, including names without a role. A change of a role with one of these names may change the
   * closure.
   */
  readonly visited: ReadonlySet<string>;
  /** The existing roles, in the order of the visit. */
  readonly roles: readonly R[];
};

/**
 * Returns the closure of the roles with the given names (decision 6.6). The closure contains the dependencies of each
 * role and the roles that are aggregated to the role. Each name is visited once, so cycles end.
 */
export function closureOf<R>(
  names: Iterable<string>,
  known: Roles<R>,
  dependenciesOf: (role: R) => readonly string[],
): Closure<R> {
  const visited = new Set(names);
  const roles: R[] = [];
  // The iteration over a set includes elements that are added during the iteration.
  for (const name of visited) {
    const role = known.role(name);
    if (role === undefined) continue;
    roles.push(role);
    for (const dependency of dependenciesOf(role)) visited.add(dependency);
    for (const added of known.aggregatedTo(name)) visited.add(added);
  }
  return { visited, roles };
}

/**
 * Returns the closure of the roles `names` as a map: for each name, the name of the role that includes it; undefined
 * for the given names. `chainTo` reads a chain of inclusions from the map.
 */
export function inclusionsOf<R>(
  names: Iterable<string>,
  known: Roles<R>,
  dependenciesOf: (role: R) => readonly string[],
): ReadonlyMap<string, string | undefined> {
  const parents = new Map<string, string | undefined>();
  for (const name of names) parents.set(name, undefined);
  // The iteration over a map includes entries that are added during the iteration.
  for (const [name] of parents) {
    const role = known.role(name);
    if (role === undefined) continue;
    for (const included of [...dependenciesOf(role), ...known.aggregatedTo(name)])
      if (!parents.has(included)) parents.set(included, name);
  }
  return parents;
}

/** Returns a shortest chain of inclusions that ends with the role `target`; empty if the role is not included. */
export function chainTo(target: string, inclusions: ReadonlyMap<string, string | undefined>): readonly string[] {
  const chain: string[] = [];
  for (let name: string | undefined = target; name !== undefined && inclusions.has(name); name = inclusions.get(name))
    chain.unshift(name);
  return chain;
}

/** A role after a write; `role` is undefined for a deletion. */
export type ChangedRole = {
  readonly name: string;
  readonly role: Role | undefined;
};

/** Returns `known` with one role replaced or removed. */
export function changedRoles(known: Roles<Role>, changed: ChangedRole): Roles<Role> {
  return {
    role: (name) => (name === changed.name ? changed.role : known.role(name)),
    aggregatedTo: function* (name) {
      for (const added of known.aggregatedTo(name)) if (added !== changed.name) yield added;
      if (changed.role?.aggregatesTo.includes(name) === true) yield changed.name;
    },
  };
}

/** The rules of `super-role`, whatever its Role object contains. */
export const everything: readonly Rule[] = [
  { kind: 'resource', apiGroups: ['*'], resources: ['*'], resourceNames: undefined, verbs: ['*'] },
  { kind: 'non-resource', nonResourceURLs: ['*'], verbs: ['*'] },
];

export function rulesIn({ visited, roles }: Closure<Role>): readonly Rule[] {
  const rules = roles.flatMap((role) => role.rules);
  return visited.has(superRole) ? [...everything, ...rules] : rules;
}
