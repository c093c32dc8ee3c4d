import { isObject } from '../../src/base/guards.ts';
import { roleOf } from '../../src/access/role-object.ts';
import type { Role } from '../../src/access/role.ts';
import { nameLengthMax } from '../../src/limits/objects.ts';
import type { CausingEvent } from '../../src/command/event.ts';
import type { Change } from '../../src/read/objects.ts';
import { nameProblem } from '../../src/resource/type/names.ts';
import type { ResourceObject } from '../../src/resource/object/object.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { storedObject } from '../../src/resource/object/shown-object.ts';
import { again, settled, type Outcome } from '../outcome.ts';
import { accountConcurrencyMax, missingRoleGraceMs, missingRolesShownMax } from './platform-limits.ts';
import { namesOf, type PlatformDependencies, readObject } from './platform-reads.ts';
import { PlatformReconciler } from './platform-reconciler.ts';
import { PlatformWrites } from './platform-writes.ts';
import { Referrers } from './reference-index.ts';

export type RoleHealthDependencies = PlatformDependencies & {
  readonly roles: ResourceType;
  readonly domain: string;
};

/**
 * Reports in the status of a role which of its referenced roles do not exist. A role references its dependencies and
 * the roles to which it is aggregated. A role that never lacked a referenced role has no such condition, so that
 * creating a role takes only one event.
 *
 * A last step of a deposed leader is harmless (docs/spec/consistency.md, 6): a status grants nothing, and the current
 * leader corrects the status.
 */
export class RoleHealth extends PlatformReconciler {
  readonly #dependencies: RoleHealthDependencies;
  readonly #writes: PlatformWrites;
  readonly #named = new Referrers();
  /**
   * By role: the time, on the monotonic clock, at which a missing reference was found. Contains only roles with a
   * status that does not report the missing reference yet.
   */
  readonly #missingSince = new Map<string, number>();

  constructor(dependencies: RoleHealthDependencies) {
    super({ name: 'role-health', concurrency: accountConcurrencyMax }, dependencies);
    this.#dependencies = dependencies;
    this.#writes = new PlatformWrites('roles', dependencies);
  }

  protected *keys(): Iterable<string> {
    const { reader, roles } = this.#dependencies;
    for (const name of namesOf(reader, roles)) {
      const read = readObject(reader, roles, name);
      if (read === undefined) continue;
      this.#take(name, read.object);
      yield name;
    }
  }

  protected onChange({ type, name, kind, bytes, deletionRequested, cause }: Change): void {
    if (type !== this.#dependencies.roles.key) return;
    this.#take(name, kind === 'deleted' ? undefined : storedObject(bytes));
    if (kind === 'deleted') this.#missingSince.delete(name);
    if (kind !== 'deleted') this.enqueue(name, cause);
    if (kind === 'modified' && !deletionRequested) return;
    if (this.#named.isReferredTo(name)) this.enqueueKeys(() => this.#named.referrersOf(name), cause);
  }

  #take(name: string, object: ResourceObject | undefined): void {
    const role = object === undefined ? undefined : roleOf(object, this.#dependencies.domain);
    this.#named.put(name, role === undefined ? [] : [...role.dependencies, ...role.aggregatesTo]);
  }

  protected async reconcile(name: string, cause: CausingEvent | undefined): Promise<Outcome> {
    const { reader, roles, domain, clock } = this.#dependencies;
    const read = readObject(reader, roles, name);
    if (read === undefined || read.object.metadata.deletionTimestamp !== undefined) return settled;
    const { object } = read;
    const found = completeness(roleOf(object, domain), (other) => this.#exists(other));
    const step = compareCondition(
      found,
      conditionsOf(object).find(({ type }) => type === 'Complete'),
    );
    if (step.type !== 'wait') this.#missingSince.delete(name);
    if (step.type === 'nothing') return settled;
    const graceMs = step.type === 'wait' ? this.#graceLeft(name) : 0;
    if (graceMs > 0) return again(graceMs);
    const condition = { ...found, lastTransitionTime: step.since ?? new Date(clock.now()).toISOString() };
    return this.#writes.because(cause).patch(read, { status: { conditions: [condition] } }, 'status');
  }

  /**
   * Returns the time until a missing reference is reported. The first call starts the grace time. Roles may be created
   * in any order, so a role that is missing only briefly is not worth an event.
   */
  #graceLeft(name: string): number {
    const now = this.#dependencies.clock.monotonic();
    const since = this.#missingSince.get(name) ?? now;
    this.#missingSince.set(name, since);
    return since + missingRoleGraceMs - now;
  }

  #exists(name: string): boolean {
    const { reader, roles } = this.#dependencies;
    const stored = nameProblem(name) === undefined ? reader.get(roles.key, name) : undefined;
    return stored !== undefined && storedObject(stored.bytes).metadata.deletionTimestamp === undefined;
  }
}

type Completeness = {
  readonly type: 'Complete';
  readonly status: 'True' | 'False';
  readonly reason: 'RolesFound' | 'RolesMissing';
  readonly message: string;
};

export function completeness({ dependencies, aggregatesTo }: Role, exists: (role: string) => boolean): Completeness {
  const references = [
    ['depends on', dependencies],
    ['is aggregated to', aggregatesTo],
  ] as const;
  const parts = references.flatMap(([how, names]) => {
    const absent = names.filter((name) => !exists(name));
    return absent.length === 0 ? [] : [`${how} a role that does not exist: ${shown(absent)}`];
  });
  if (parts.length === 0)
    return { type: 'Complete', status: 'True', reason: 'RolesFound', message: 'all referenced roles exist' };
  return {
    type: 'Complete',
    status: 'False',
    reason: 'RolesMissing',
    message: parts.join('; '),
  };
}

/**
 * `wait`: the condition is reported only after the grace time. `since`: the time of the reported condition, if only its
 * message changes.
 */
type ConditionStep =
  { readonly type: 'nothing' } | { readonly type: 'wait' | 'report'; readonly since: string | undefined };

/** Compares the found condition with the reported condition. A missing condition means healthy. */
export function compareCondition(
  found: Completeness,
  reported: Readonly<Record<string, unknown>> = { status: 'True', message: found.message },
): ConditionStep {
  if (found.status !== reported['status'])
    return { type: found.status === 'False' ? 'wait' : 'report', since: undefined };
  return found.message === reported['message']
    ? { type: 'nothing' }
    : { type: 'report', since: text(reported['lastTransitionTime']) };
}

function shown(names: readonly string[]): string {
  const first = names
    .slice(0, missingRolesShownMax)
    .map((name) => JSON.stringify(name.slice(0, nameLengthMax)))
    .join(', ');
  return names.length > missingRolesShownMax
    ? `${first} and ${String(names.length - missingRolesShownMax)} more`
    : first;
}

function conditionsOf({ status }: ResourceObject): readonly Readonly<Record<string, unknown>>[] {
  const { conditions } = isObject(status) ? status : {};
  return Array.isArray(conditions) ? conditions.filter(isObject) : [];
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
