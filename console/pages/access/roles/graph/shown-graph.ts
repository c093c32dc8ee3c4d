import { groupsOf, type Role, type RoleMap } from '../../access-objects.ts';
import { inclusionsOf } from '../role-graph.ts';
import type { GraphEdge } from './layered-graph.ts';

/** Roles to draw, by module and in the order of lists, with their inclusions. */
export type ShownGraph = {
  readonly roles: readonly { readonly name: string; readonly lane: string; readonly role: Role | undefined }[];
  readonly edges: readonly GraphEdge[];
};

/**
 * The names of the roles that a role includes, directly or indirectly (`below`), and of the roles that include it
 * (`above`).
 */
export type Reach = { readonly below: ReadonlySet<string>; readonly above: ReadonlySet<string> };

/**
 * Returns the templates and all roles that they include. Leaves out hidden roles, and roles that only hidden roles
 * include.
 */
export function graphOfTemplates(roles: RoleMap): ShownGraph {
  const templates = [...roles.values()].filter(({ isTemplate, isHidden }) => isTemplate && !isHidden);
  return graphFrom(
    templates.map(({ name }) => name),
    roles,
  );
}

/** Returns a role, all roles that it includes, and all roles that include it. */
export function graphAround(name: string, roles: RoleMap): ShownGraph {
  const visible = [...roles.values()].filter(({ isHidden }) => !isHidden);
  const { edges } = graphFrom(
    visible.map((role) => role.name),
    roles,
  );
  const { above, below } = reachOf(name, edges);
  const near = new Set([name, ...above, ...below]);
  return shown(
    near,
    edges.filter(({ from, to }) => near.has(from) && near.has(to)),
    roles,
  );
}

export function reachOf(name: string, edges: readonly GraphEdge[]): Reach {
  return {
    below: reached(name, edges, ({ from, to }) => [from, to]),
    above: reached(name, edges, ({ from, to }) => [to, from]),
  };
}

function reached(
  start: string,
  edges: readonly GraphEdge[],
  ends: (edge: GraphEdge) => readonly [string, string],
): ReadonlySet<string> {
  const next = new Map<string, string[]>();
  for (const edge of edges) {
    const [near, far] = ends(edge);
    next.set(near, [...(next.get(near) ?? []), far]);
  }
  // The iteration also visits the names that are added during the loop.
  const names = new Set(next.get(start));
  for (const name of names) for (const each of next.get(name) ?? []) names.add(each);
  names.delete(start);
  return names;
}

function graphFrom(starts: readonly string[], roles: RoleMap): ShownGraph {
  const inclusions = inclusionsOf(roles);
  const names = new Set(starts);
  const edges: GraphEdge[] = [];
  for (const from of names) {
    const targets = new Set<string>();
    for (const { name: to, how } of inclusions(from)) {
      if (targets.has(to)) continue;
      targets.add(to);
      names.add(to);
      edges.push({ from, to, how });
    }
  }
  return shown(names, edges, roles);
}

/** Returns the roles in the order of lists: by module, then by title. Names without a role are last. */
function shown(names: ReadonlySet<string>, edges: readonly GraphEdge[], roles: RoleMap): ShownGraph {
  const existing = [...names].map((name) => roles.get(name)).filter((role) => role !== undefined);
  const missing = [...names].filter((name) => !roles.has(name)).sort();
  return {
    roles: [
      ...groupsOf(existing).flatMap(({ module, roles: members }) =>
        members.map((role) => ({ name: role.name, lane: module, role })),
      ),
      ...missing.map((name) => ({ name, lane: '', role: undefined })),
    ],
    edges,
  };
}
