import { anonymousRole, authenticatedRole } from '../../src/access/role-names.ts';
import type { Rights } from '../../src/read/permission-reader.ts';
import { viewed, type TableContents } from './table-contents.ts';
import type { BindingRecord } from './permission-objects.ts';
import { HeldRights, memberOf, type Remembered } from './permission-rights.ts';
import type { KnownRoles } from './permission-roles.ts';

type RoleSetDependencies = {
  readonly roles: KnownRoles;
  readonly remembered: Remembered;
};

/**
 * A set of roles, for example the roles of a user. The rights of the set are computed on first use, and again after a
 * role of the set changed.
 */
export class RoleSet {
  /** The roles of the set, without the roles that every user or every visitor has. */
  readonly bound: readonly string[];
  readonly #names: ReadonlySet<string>;
  readonly #roles: KnownRoles;
  readonly #remembered: Remembered;
  #rights: HeldRights | undefined;
  /** The version of the roles for which `#rights` was computed. */
  #version = 0;
  /** The rights of tokens with only some of these roles. The key is the `roles` array of the token's record. */
  #restricted = new WeakMap<readonly string[], RoleSet>();

  constructor(bound: readonly string[], standing: readonly string[], { roles, remembered }: RoleSetDependencies) {
    this.bound = bound;
    this.#names = new Set([...bound, ...standing]);
    this.#roles = roles;
    this.#remembered = remembered;
  }

  rights(): HeldRights {
    const { version } = this.#roles;
    if (this.#rights !== undefined) {
      if (this.#version === version) return this.#rights;
      if (this.#roles.areUnchanged(this.#rights.visited, this.#version)) {
        this.#version = version;
        return this.#rights;
      }
    }
    this.#rights = new HeldRights(this.#roles.closure(this.#names), this.#remembered);
    this.#restricted = new WeakMap();
    this.#version = version;
    return this.#rights;
  }

  /**
   * Returns the rights of a token that is limited to `roles`. Roles outside this set have no effect. In the set of a
   * super administrator, all roles have effect.
   */
  restrictedTo(roles: readonly string[]): Rights {
    const whole = this.rights();
    let restricted = this.#restricted.get(roles);
    if (restricted === undefined) {
      const held = roles.filter((role) => whole.isSuperAdministrator || whole.visited.has(role));
      restricted = new RoleSet(held, loggedIn, { roles: this.#roles, remembered: this.#remembered });
      this.#restricted.set(roles, restricted);
    }
    return restricted.rights();
  }
}

const loggedIn = [authenticatedRole, anonymousRole];

/** The role bindings of users. Users with equal roles share one set. */
export class Holders {
  readonly visitor: RoleSet;
  /** The set of a user without bindings. */
  readonly #unbound: RoleSet;
  readonly #dependencies: RoleSetDependencies;
  readonly #bindings = new Map<string, BindingRecord>();
  readonly #bindingsTo = new Map<string, Set<string>>();
  /** The number of bindings of each user to each role. */
  readonly #counts = new Map<string, Map<string, number>>();
  readonly #setOf = new Map<string, RoleSet>();
  /** Each distinct set with the number of its users. A set is removed with its last user. */
  readonly #sets = new Map<string, { readonly set: RoleSet; users: number }>();

  constructor(dependencies: RoleSetDependencies) {
    this.#dependencies = dependencies;
    this.visitor = new RoleSet([], [anonymousRole], dependencies);
    this.#unbound = new RoleSet([], loggedIn, dependencies);
  }

  of(user: string): RoleSet {
    return this.#setOf.get(user) ?? this.#unbound;
  }

  /** The bindings to a role. With `only`, at most the binding of this name. */
  *bindingsTo(role: string, only?: string): Generator<BindingRecord, undefined> {
    const names = this.#bindingsTo.get(role);
    if (names === undefined || (only !== undefined && !names.has(only))) return;
    for (const name of only === undefined ? names : [only]) {
      const binding = this.#bindings.get(name);
      if (binding !== undefined) yield binding;
    }
  }

  isBound(user: string, role: string): boolean {
    return this.#counts.get(user)?.has(role) === true;
  }

  /** Replaces a binding. Returns whether the roles of a user may have changed. */
  put(name: string, after: BindingRecord | undefined): boolean {
    const before = this.#bindings.get(name);
    const removed = before === undefined ? [] : without(before, after);
    const gained = after === undefined ? [] : without(after, before);
    if (before !== undefined) this.#remove(before, removed);
    if (after !== undefined) this.#add(after, gained);
    for (const user of new Set([...removed, ...gained])) this.#renew(user);
    return removed.length > 0 || gained.length > 0;
  }

  contents(): readonly TableContents[] {
    return [
      { table: 'bindings', entries: this.#bindings },
      { table: 'bindings to roles', entries: this.#bindingsTo },
      { table: 'numbers of bindings', entries: this.#counts },
      { table: 'roles of users', entries: viewed(this.#setOf, ({ bound }) => bound) },
      { table: 'sets of roles', entries: viewed(this.#sets, ({ set: { bound }, users }) => ({ bound, users })) },
    ];
  }

  clear(): void {
    for (const map of [this.#bindings, this.#bindingsTo, this.#counts, this.#setOf, this.#sets]) map.clear();
  }

  #add(binding: BindingRecord, gained: readonly string[]): void {
    const { name, role } = binding;
    this.#bindings.set(name, binding);
    memberOf(this.#bindingsTo, role, () => new Set<string>()).add(name);
    for (const user of gained) this.#count(user, role, 1);
  }

  #remove({ name, role }: BindingRecord, removed: readonly string[]): void {
    this.#bindings.delete(name);
    const names = this.#bindingsTo.get(role);
    names?.delete(name);
    if (names?.size === 0) this.#bindingsTo.delete(role);
    for (const user of removed) this.#count(user, role, -1);
  }

  #count(user: string, role: string, change: number): void {
    const counts = memberOf(this.#counts, user, () => new Map<string, number>());
    const count = (counts.get(role) ?? 0) + change;
    if (count > 0) counts.set(role, count);
    else counts.delete(role);
    if (counts.size === 0) this.#counts.delete(user);
  }

  #renew(user: string): void {
    const before = this.#setOf.get(user);
    const bound = [...(this.#counts.get(user)?.keys() ?? [])].sort();
    if (before !== undefined) this.#release(before);
    if (bound.length === 0) {
      this.#setOf.delete(user);
      return;
    }
    const shared = memberOf(this.#sets, keyOf(bound), () => ({
      set: new RoleSet(bound, loggedIn, this.#dependencies),
      users: 0,
    }));
    shared.users += 1;
    this.#setOf.set(user, shared.set);
  }

  #release({ bound }: RoleSet): void {
    const key = keyOf(bound);
    const shared = this.#sets.get(key);
    if (shared === undefined) return;
    shared.users -= 1;
    if (shared.users === 0) this.#sets.delete(key);
  }
}

/** The users of `one` that `other` does not bind to the same role. */
function without(one: BindingRecord, other: BindingRecord | undefined): readonly string[] {
  if (one.role !== other?.role) return one.users;
  const kept = new Set(other.users);
  return one.users.filter((user) => !kept.has(user));
}

/** Encodes a list of names unambiguously, since names from events may contain any characters. */
function keyOf(names: readonly string[]): string {
  return JSON.stringify(names);
}
