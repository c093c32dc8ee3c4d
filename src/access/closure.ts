import type { Role } from './role.ts';
import type { Rule } from './rule.ts';
import { superRole } from './standing-roles.ts';

/** Where the closure looks roles up, and who is added to whom. */
export type Roles<R> = {
  role(name: string): R | undefined;
  /** Names of the roles that are aggregated to it. */
  aggregatedTo(name: string): Iterable<string>;
};

export type Closure<R> = {
  /** Every name met, also of roles that do not exist: any of them may change what is held. */
  readonly visited: ReadonlySet<string>;
  /** Those that exist, in the order they were met. */
  readonly roles: readonly R[];
};

/**
 * Dependencies followed through, and roles aggregated to any of them (decision 6.6). Each name is met once, so cycles end;
 * nothing is added to a role that does not exist.
 */
export function closureOf<R>(names: Iterable<string>, known: Roles<R>, dependenciesOf: (role: R) => readonly string[]): Closure<R> {
  const visited = new Set(names);
  const roles: R[] = [];
  // A set that grows while it is walked is walked to its new end.
  for (const name of visited) {
    const role = known.role(name);
    if (role === undefined) continue;
    roles.push(role);
    for (const dependency of dependenciesOf(role)) visited.add(dependency);
    for (const added of known.aggregatedTo(name)) visited.add(added);
  }
  return { visited, roles };
}

/** `known` as it would be with one role so; undefined: without it. */
export function changedRoles(known: Roles<Role>, changed: { readonly name: string; readonly role: Role | undefined }): Roles<Role> {
  return {
    role: (name) => (name === changed.name ? changed.role : known.role(name)),
    aggregatedTo: function* (name) {
      for (const added of known.aggregatedTo(name)) if (added !== changed.name) yield added;
      if (changed.role?.aggregatesTo.includes(name) === true) yield changed.name;
    },
  };
}

/** What a super administrator holds, whatever the role's object says. */
export const everything: readonly Rule[] = [
  { kind: 'resource', apiGroups: ['*'], resources: ['*'], resourceNames: undefined, verbs: ['*'] },
  { kind: 'non-resource', nonResourceURLs: ['*'], verbs: ['*'] },
];

export function rulesIn({ visited, roles }: Closure<Role>): readonly Rule[] {
  const rules = roles.flatMap((role) => role.rules);
  return visited.has(superRole) ? [...everything, ...rules] : rules;
}
