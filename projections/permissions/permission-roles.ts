import { changedRoles, closureOf, rulesIn, type Closure, type Roles } from '../../src/access/closure.ts';
import { RoleTable } from '../../src/access/role-table.ts';
import type { Role } from '../../src/access/role.ts';
import type { Rule } from '../../src/access/rule.ts';
import { deepEqual } from '../../src/base/json.ts';
import { changedRolesMax } from '../../src/limits/access.ts';

/** A role and its rules made ready, once somebody is judged by them. */
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

/**
 * All roles, who is added to whom, and when each last changed. What was made from a closure asks whether any name of it has
 * changed since, so that a changed role costs its own recompilation and no search for who holds it.
 */
export class KnownRoles implements Roles<KnownRole> {
  readonly #roles = new Map<string, KnownRole>();
  readonly #aggregatedTo = new Map<string, Set<string>>();
  readonly #changedAt = new Map<string, number>();
  /** By the last change alone: mostly nothing else has happened since somebody was judged. */
  #lastChanged: readonly string[] = [];
  #version = 0;
  /** Everything made before is void. */
  #voidBefore = 0;

  /** Grows with every change of what any role gives. */
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

  /** Answers whether what anybody holds may have changed: how a role is shown does not count. */
  put(name: string, after: Role | undefined): boolean {
    const before = this.role(name)?.role;
    if (givesTheSame(before, after)) {
      if (after !== undefined && !deepEqual(before, after)) this.#roles.set(name, new KnownRole(after));
      return false;
    }
    const lost = before?.aggregatesTo ?? [];
    const gained = after?.aggregatesTo ?? [];
    for (const target of lost) this.#takeFrom(target, name);
    for (const target of gained) this.#addTo(target, name);
    if (after === undefined) this.#roles.delete(name);
    else this.#roles.set(name, new KnownRole(after));
    this.#noteChanged([name, ...lost, ...gained]);
    return true;
  }

  closure(names: Iterable<string>): Closure<KnownRole> {
    return closureOf(names, this, ({ role }) => role.dependencies);
  }

  rulesOf(names: Iterable<string>, changed?: { readonly name: string; readonly role: Role | undefined }): readonly Rule[] {
    const known: Roles<Role> = { role: (name) => this.#roles.get(name)?.role, aggregatedTo: (name) => this.aggregatedTo(name) };
    return rulesIn(closureOf(names, changed === undefined ? known : changedRoles(known, changed), (role) => role.dependencies));
  }

  /** None of the names has changed since `version`. */
  areUnchanged(names: ReadonlySet<string>, version: number): boolean {
    if (version < this.#voidBefore) return false;
    if (version === this.#version - 1) return !this.#lastChanged.some((name) => names.has(name));
    for (const name of names) {
      if ((this.#changedAt.get(name) ?? 0) > version) return false;
    }
    return true;
  }

  clear(): void {
    this.#roles.clear();
    this.#aggregatedTo.clear();
    this.#changedAt.clear();
    this.#version += 1;
    this.#voidBefore = this.#version;
  }

  #noteChanged(names: readonly string[]): void {
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

function givesTheSame(before: Role | undefined, after: Role | undefined): boolean {
  if (before === undefined || after === undefined) return before === after;
  return deepEqual(before.rules, after.rules) && deepEqual(before.dependencies, after.dependencies) && deepEqual(before.aggregatesTo, after.aggregatesTo);
}
