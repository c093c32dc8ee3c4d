import type { Grant } from '../../src/access/role-table.ts';
import { everything, type Closure } from '../../src/access/role-aggregation.ts';
import { lacking } from '../../src/access/coverage.ts';
import { pathTexts } from '../../src/access/path-entry.ts';
import { resourceText } from '../../src/access/resource-entry.ts';
import {
  isGranted,
  pluginNeeded,
  type RuleDecision,
  type Candidate,
  type RoleTable,
} from '../../src/access/role-table.ts';
import type { Role } from '../../src/access/role.ts';
import type { Rule } from '../../src/access/rule.ts';
import { superRole } from '../../src/access/role-names.ts';
import type { ApiRequest, Rights } from '../../src/read/permission-reader.ts';
import { rememberedCandidatesMax, rememberingRolesMin } from '../../src/limits/access.ts';
import type { NonResourceRequest, ResourceRequest } from '../../src/resource/query/request-path.ts';

export type PluginOf = (request: ApiRequest) => string | undefined;

/** Limits the caches of all rights together. When the caches are too large, all of them are cleared. */
export class Remembered {
  #count = 0;
  /** The rights with cached candidates. Weak references let unused rights be garbage-collected. */
  #holders: WeakRef<HeldRights>[] = [];

  note(holder: HeldRights, isFirst: boolean): void {
    if (this.#count >= rememberedCandidatesMax) {
      for (const other of this.#holders) other.deref()?.forget();
      this.#holders = [];
      this.#count = 0;
    }
    this.#count += 1;
    if (isFirst || this.#count === 1) this.#holders.push(new WeakRef(holder));
  }
}

type RoleWithTable = {
  readonly role: Role;
  table(): RoleTable;
};

/** The rights of one set of roles, in the current state of the roles. */
export class HeldRights implements Rights {
  readonly isSuperAdministrator: boolean;
  /** All role names in the closure of the set (`closureOf`), including roles that do not exist. */
  readonly visited: ReadonlySet<string>;
  readonly #tables: readonly RoleTable[];
  readonly #remembered: Remembered;
  readonly #pathDepth: number;
  /** The candidate rules by group, resource and subresource, in the order of roles and rules. */
  #candidates = new Map<string, Map<string, Map<string, readonly Candidate[]>>>();
  #roles: ReadonlySet<string> | undefined;

  constructor(closure: Closure<RoleWithTable>, remembered: Remembered) {
    this.visited = closure.visited;
    this.isSuperAdministrator = closure.visited.has(superRole);
    this.#tables = closure.roles.map((role) => role.table());
    this.#remembered = remembered;
    this.#pathDepth = this.#tables.reduce((most, { pathDepth }) => Math.max(most, pathDepth), -1);
  }

  get roles(): ReadonlySet<string> {
    this.#roles ??= new Set(this.#tables.map(({ role }) => role.name));
    return this.#roles;
  }

  find(request: ApiRequest, pluginOf: PluginOf): Grant | undefined {
    if (this.isSuperAdministrator) return grantOfEverything(request);
    return request.kind === 'resource' ? this.#findResource(request, pluginOf) : this.#findPath(request);
  }

  pluginsFor(request: ApiRequest): ReadonlySet<string> {
    if (request.kind !== 'resource') return new Set();
    const candidates = this.#tables.flatMap((table) => table.candidates(request));
    return new Set(candidates.flatMap((candidate) => pluginNeeded(candidate, request) ?? []));
  }

  findUncovered(rules: readonly Rule[]): Rule | undefined {
    return this.isSuperAdministrator ? undefined : lacking(rules, this.rules());
  }

  rules(): readonly Rule[] {
    const rules = this.#tables.flatMap(({ role }) => role.rules);
    return this.isSuperAdministrator ? [...everything, ...rules] : rules;
  }

  forget(): void {
    this.#candidates = new Map();
  }

  #findResource(request: ResourceRequest, pluginOf: PluginOf): Grant | undefined {
    const decision: RuleDecision = { request, pluginOf, owner: null };
    if (this.#tables.length >= rememberingRolesMin)
      return this.#remembering(request).find((candidate) => isGranted(candidate, decision))?.ready.grant;
    const text = resourceText(request.resource, request.subresource);
    for (const table of this.#tables) {
      const grant = table.findResource(decision, text);
      if (grant !== undefined) return grant;
    }
    return undefined;
  }

  #remembering(request: ResourceRequest): readonly Candidate[] {
    const { group, resource, subresource = '' } = request;
    const known = this.#candidates.get(group)?.get(resource)?.get(subresource);
    if (known !== undefined) return known;
    const found = this.#tables.flatMap((table) => table.candidates(request));
    this.#remembered.note(this, this.#candidates.size === 0);
    const ofGroup = memberOf(this.#candidates, group, () => new Map<string, Map<string, readonly Candidate[]>>());
    memberOf(ofGroup, resource, () => new Map<string, readonly Candidate[]>()).set(subresource, found);
    return found;
  }

  #findPath(request: NonResourceRequest): Grant | undefined {
    const texts = pathTexts(request, this.#pathDepth);
    for (const table of this.#tables) {
      const grant = table.findPath(request, texts);
      if (grant !== undefined) return grant;
    }
    return undefined;
  }
}

/** Returns the value of the key. Creates the value if it is missing. */
export function memberOf<T>(map: Map<string, T>, key: string, make: () => T): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function grantOfEverything({ kind }: ApiRequest): Grant | undefined {
  const rule = everything.find((one) => one.kind === kind);
  return rule === undefined ? undefined : { role: superRole, rule };
}

/** The rights of the platform, and of plugins that act without a caller, independent of roles. */
export const unboundedRights: Rights = {
  isSuperAdministrator: true,
  roles: new Set([superRole]),
  find: grantOfEverything,
  pluginsFor: () => new Set(),
  findUncovered: () => undefined,
  rules: () => everything,
};
