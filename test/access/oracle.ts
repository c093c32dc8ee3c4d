import type { NonResourceRequest, ResourceRequest } from '../../src/resource/query/request-path.ts';

/**
 * Decisions 6.3 to 6.6 once more, straight from stored objects, slowly and as plainly as they read. It shares nothing
 * with the code under test but the shape of a request.
 */

export type RawRule = {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs?: readonly string[];
};
export type RawRole = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly rules: readonly RawRule[];
};
export type RawBinding = { readonly role: string; readonly users: readonly string[] };
/** Objects that exist and are not marked. */
export type RawWorld = { readonly roles: readonly RawRole[]; readonly bindings: readonly RawBinding[] };

/** `tokenRoles`: a token that gives only these. */
export type Who = { readonly user: string | undefined; readonly tokenRoles?: readonly string[] };
export type Request = ResourceRequest | NonResourceRequest;

const prefix = 'rbac.authorization.svc.run/';

export function isAllowed(world: RawWorld, who: Who, request: Request, plugin: string | undefined): boolean {
  const held = rolesHeld(world, who);
  if (held.has('super-role')) return true;
  return world.roles.some((role) => held.has(role.name) && role.rules.some((rule) => isMatch(rule, request, plugin)));
}

export function rolesHeld(world: RawWorld, { user, tokenRoles }: Who): ReadonlySet<string> {
  if (user === undefined) return closed(world, ['anonymous']);
  const bound = world.bindings.filter(({ users }) => users.includes(user)).map(({ role }) => role);
  const whole = closed(world, [...bound, 'authenticated', 'anonymous']);
  if (tokenRoles === undefined) return whole;
  return closed(world, [
    ...tokenRoles.filter((role) => whole.has(role) || whole.has('super-role')),
    'authenticated',
    'anonymous',
  ]);
}

/** Grows the set until it grows no more. */
function closed(world: RawWorld, names: readonly string[]): ReadonlySet<string> {
  const held = new Set(names);
  const exists = (name: string): boolean => world.roles.some((role) => role.name === name);
  for (let size = -1; size !== held.size;) {
    size = held.size;
    for (const role of world.roles) {
      const comesWithOneHeld = [...held].some(
        (name) => exists(name) && role.labels[`${prefix}aggregate-to-${name}`] === 'true',
      );
      if (comesWithOneHeld) held.add(role.name);
      for (const name of held.has(role.name) ? dependencies(role) : []) held.add(name);
    }
  }
  return held;
}

function dependencies(role: RawRole): readonly string[] {
  try {
    const list: unknown = JSON.parse(role.annotations[`${prefix}dependencies`] ?? '[]');
    return Array.isArray(list) && !list.some((entry) => typeof entry !== 'string') ? (list as string[]) : [];
  } catch {
    return [];
  }
}

export function isMatch(rule: RawRule, request: Request, plugin: string | undefined): boolean {
  const verbs = rule.verbs ?? [];
  const speaksOfResources = (rule.resources ?? []).length > 0 || (rule.nonResourceURLs ?? []).length === 0;
  if (request.kind === 'non-resource') {
    if (speaksOfResources) return false;
    if (!verbs.some((verb) => verb === '*' || verb === request.verb || verb === request.method)) return false;
    return (rule.nonResourceURLs ?? []).some((entry) => isPathMatch(entry, request));
  }
  if (!speaksOfResources || !verbs.some((verb) => verb === '*' || verb === request.verb)) return false;
  if (!(rule.apiGroups ?? []).some((group) => group === '*' || group === request.group)) return false;
  if (!(rule.resources ?? []).some((entry) => isResourceMatch(entry, request, plugin))) return false;
  const names = rule.resourceNames ?? [];
  const name = request.name ?? request.selectedName;
  return names.length === 0 || (name !== undefined && names.some((entry) => isNameMatch(entry, name)));
}

function isResourceMatch(
  entry: string,
  { resource, subresource }: ResourceRequest,
  plugin: string | undefined,
): boolean {
  if (entry === '*') return true;
  const parts = entry.split('/');
  if (subresource === undefined) {
    if (parts.length === 1) return parts[0] === resource;
    return parts.length === 2 && parts[0] === plugin && parts[1] === resource;
  }
  if (parts.length === 2) {
    if (parts[0] === '*' && parts[1] === subresource) return true;
    if (parts[1] === '*' && parts[0] === resource) return true;
    return parts[0] === resource && parts[1] === subresource;
  }
  return parts.length === 3 && parts[0] === plugin && parts[1] === resource && parts[2] === subresource;
}

function isNameMatch(entry: string, name: string): boolean {
  if (entry === name) return true;
  if (entry.split('*').length !== 2) return false;
  return new RegExp(
    `^${entry
      .split('*')
      .map((text) => text.replace(/[\\^$.*+?()[\]{}|]/gu, '\\$&'))
      .join('.*')}$`,
    'su',
  ).test(name);
}

function isPathMatch(entry: string, { path, verb }: NonResourceRequest): boolean {
  if (entry === '*' || entry === path) return true;
  if (verb === 'get' && entry === '/api' && /^\/api\/[^/]+$/u.test(path)) return true;
  if (verb === 'get' && entry === '/apis' && /^\/apis\/[^/]+(?:\/[^/]+)?$/u.test(path)) return true;
  if (!entry.endsWith('/*')) return false;
  const above = entry.slice(0, -2);
  return path.startsWith(`${above}/`) && path !== `${above}/`;
}
