import { changedRoles, closureOf, inclusionsOf, rulesIn } from '../../src/access/role-aggregation.ts';
import type { ChangedRole, Closure, Roles } from '../../src/access/role-aggregation.ts';
import { RoleTable } from '../../src/access/role-table.ts';
import type { Role } from '../../src/access/role.ts';
import type { Rule } from '../../src/access/rule.ts';
import { deepEqual } from '../../src/base/json.ts';
import { changedRolesMax } from '../../src/limits/access.ts';
import { viewed, type TableContents } from './table-contents.ts';

/** A role. Its rules are prepared for decisions on first use. */
class KnownRole {
  readonly role: Role;
  #table: RoleTable | undefined;

  constructor(role: Role) {
    this.role = role;
  }

  table(): RoleTable {
    this.#table ??= new RoleTable(this.role);
    return this.#table;
  }
}

export type ProposedClosure = {
  readonly closure: Closure<KnownRole>;
  readonly inclusions: ReadonlyMap<string, string | undefined>;
  readonly role: (name: string) => Role | undefined;
};

/**
 * All roles, their aggregation, and the version of the last change of each role. A cached closure is valid if no role
 * of the closure has changed since the closure was cached.
 */
export class KnownRoles implements Roles<KnownRole> {
  readonly #roles = new Map<string, KnownRole>();
  readonly #aggregatedTo = new Map<string, Set<string>>();
  readonly #changedAt = new Map<string, number>();
  /** The names of the roles in the last change. Usually, only these roles have changed since the last check. */
  #lastChanged: readonly string[] = [];
  #version = 0;
  /** Closures that were cached before this version are invalid. */
  #voidBefore = 0;

  /** Increases with every change of the rights that a role grants. */
  get version(): number {
    return this.#version;
  }

  role(name: string): KnownRole | undefined {
    return this.#roles.get(name);
  }

  aggregatedTo(name: string): Iterable<string> {
    return this.#aggregatedTo.get(name) ?? [];
  }

  all(): Iterable<Role> {
    return Array.from(this.#roles.values(), ({ role }) => role);
  }

  /** Replaces a role. Returns whether the rights of a subject may have changed. */
  put(name: string, after: Role | undefined): boolean {
    const before = this.role(name)?.role;
    if (isSameGrant(before, after)) {
      if (after !== undefined && !deepEqual(before, after)) this.#roles.set(name, new KnownRole(after));
      return false;
    }
    const removed = before?.aggregatesTo ?? [];
    const gained = after?.aggregatesTo ?? [];
    for (const target of removed) this.#takeFrom(target, name);
    for (const target of gained) this.#addTo(target, name);
    if (after === undefined) this.#roles.delete(name);
    else this.#roles.set(name, new KnownRole(after));
    this.#recordChanged([name, ...removed, ...gained]);
    return true;
  }

  closure(names: Iterable<string>): Closure<KnownRole> {
    return closureOf(names, this, ({ role }) => role.dependencies);
  }

  rulesOf(names: Iterable<string>, changed?: ChangedRole): readonly Rule[] {
    const known = this.#withChanges(changed === undefined ? [] : [changed]);
    return rulesIn(closureOf(names, known, (role) => role.dependencies));
  }

  /** Returns the closure and the inclusions of roles, with `changes` in place of the stored roles. */
  proposed(names: readonly string[], changes: readonly ChangedRole[]): ProposedClosure {
    const known = this.#withChanges(changes);
    const { visited, roles } = closureOf(names, known, (role) => role.dependencies);
    const prepared = roles.map((role) => {
      const stored = this.#roles.get(role.name);
      return stored?.role === role ? stored : new KnownRole(role);
    });
    return {
      closure: { visited, roles: prepared },
      inclusions: inclusionsOf(names, known, (role) => role.dependencies),
      role: (name) => known.role(name),
    };
  }

  #withChanges(changes: readonly ChangedRole[]): Roles<Role> {
    const stored: Roles<Role> = {
      role: (name) => this.#roles.get(name)?.role,
      aggregatedTo: (name) => this.aggregatedTo(name),
    };
    return changes.reduce(changedRoles, stored);
  }

  /**
   * Whether all roles with these names are unchanged since `version`. Returns false if the changes since then are
   * unknown.
   */
  areUnchanged(names: ReadonlySet<string>, version: number): boolean {
    if (version < this.#voidBefore) return false;
    if (version === this.#version - 1) return !this.#lastChanged.some((name) => names.has(name));
    for (const name of names) {
      if ((this.#changedAt.get(name) ?? 0) > version) return false;
    }
    return true;
  }

  contents(): readonly TableContents[] {
    return [
      { table: 'roles', entries: viewed(this.#roles, ({ role }) => role) },
      { table: 'aggregated roles', entries: this.#aggregatedTo },
    ];
  }

  clear(): void {
    this.#roles.clear();
    this.#aggregatedTo.clear();
    this.#changedAt.clear();
    this.#version += 1;
    this.#voidBefore = this.#version;
  }

  #recordChanged(names: readonly string[]): void {
    this.#version += 1;
    this.#lastChanged = names;
    for (const name of names) this.#changedAt.set(name, this.#version);
    if (this.#changedAt.size <= changedRolesMax) return;
    this.#changedAt.clear();
    this.#voidBefore = this.#version;
  }

  #addTo(target: string, name: string): void {
    const added = this.#aggregatedTo.get(target);
    if (added === undefined) this.#aggregatedTo.set(target, new Set([name]));
    else added.add(name);
  }

  #takeFrom(target: string, name: string): void {
    const added = this.#aggregatedTo.get(target);
    added?.delete(name);
    if (added?.size === 0) this.#aggregatedTo.delete(target);
  }
}

function isSameGrant(before: Role | undefined, after: Role | undefined): boolean {
  if (before === undefined || after === undefined) return before === after;
  return (
    deepEqual(before.rules, after.rules) &&
    deepEqual(before.dependencies, after.dependencies) &&
    deepEqual(before.aggregatesTo, after.aggregatesTo)
  );
}
