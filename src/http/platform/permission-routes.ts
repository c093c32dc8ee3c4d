import { hash } from 'node:crypto';

import type { UnfoldedWrites } from '../../auth/authentication/unfolded-writes.ts';
import { subjectNamed } from '../../auth/authorization/named-subject.ts';
import type { PermissionReader } from '../../read/permission-reader.ts';
import { roleBindingKey, roleKey, userKey } from '../../auth/types/platform-types.ts';
import { replaceBindings } from '../../auth/authorization/user-bindings.ts';
import { oidcPrefix } from '../../access/identity-provider.ts';
import type { Role } from '../../access/role.ts';
import { permissionWaitSecondsMax, permissionWaitsPerUserMax } from '../../limits/access.ts';
import type { Clock } from '../../base/clock.ts';
import { actorOf, type Subject } from '../../command/subject.ts';
import type { Execute } from '../../write/execute.ts';
import type { TypeRegistry } from '../../plugin/registry/type-registry.ts';
import type { ObjectReader } from '../../read/objects.ts';
import type { ResourceType, Violation } from '../../resource/type/resource-type.ts';
import { bytesAnswer, refusal, type Answer } from '../answer.ts';
import { decodeRoleAssignment, invalidBody } from '../body/decode-request-body.ts';
import { isTagKnown } from '../resources/conditional-requests.ts';
import { writeContext } from '../resources/decode-write.ts';
import { disconnectSignalOf, type Exchange } from '../exchange.ts';
import type { PlatformRoute } from '../fixed-routes.ts';
import { platformApiVersion, platformType } from './platform-type.ts';
import { problem, problemOf, type Problem } from '../problem.ts';
import { checkParameterNames } from '../query-names.ts';
import type { PermissionWaits } from './permission-waits.ts';
import { readObject } from '../body/read-object.ts';

export type PermissionRoutesDependencies = {
  readonly domain: string;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly registry: TypeRegistry;
  readonly reader: ObjectReader;
  readonly execute: Execute;
  readonly permissions: PermissionReader;
  /**
   * Reads an object from the log before a user or role is reported as missing. Another node may have just created the
   * object.
   */
  readonly unfoldedWrites: Pick<UnfoldedWrites, 'refreshObject'>;
  readonly waits: PermissionWaits;
};

/** Creates the permissions API for front ends. */
export function permissionRoutes(dependencies: PermissionRoutesDependencies): readonly PlatformRoute[] {
  const root = `/apis/api.console.${dependencies.domain}/${platformApiVersion}`;
  const routes = new PermissionRoutes(dependencies);
  return [
    {
      method: 'GET',
      path: `${root}/users/{name}/permissions`,
      route: async ({ name = '' }, exchange) => routes.show(exchange, name),
    },
    {
      method: 'POST',
      path: `${root}/users/{name}/permissions`,
      route: async ({ name = '' }, exchange) => routes.replace(exchange, name),
    },
    { method: 'GET', path: `${root}/roletemplates`, route: () => routes.templates() },
  ];
}

class PermissionRoutes {
  readonly #dependencies: PermissionRoutesDependencies;
  /** The last replacement of bindings, by user. Replacements for one user run one after another. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(dependencies: PermissionRoutesDependencies) {
    this.#dependencies = dependencies;
  }

  async show(exchange: Exchange, name: string): Promise<Answer> {
    const roles = platformType(this.#dependencies.registry, roleKey);
    if (!roles.ok) return roles.answer;
    const ms = decodeWait(exchange.query, name);
    if (typeof ms !== 'number') return refusal(ms);
    const subject = name === '-' ? exchange.subject : await this.#lookedUp(name);
    if (subject === undefined) return unknownUser(name);
    const current = (): Tagged => tagged(this.#permissionsOf(subject, roles.type));
    if (ms > 0 && subject.kind === 'user' && isTagKnown(exchange.req, current().tag)) {
      const isChanged = (): boolean => !isTagKnown(exchange.req, current().tag);
      const signal = disconnectSignalOf(exchange.res);
      if (!(await this.#dependencies.waits.change(subject, { ms, isChanged, signal }))) return tooManyWaits();
    }
    return tagAnswer(exchange, current());
  }

  async replace(exchange: Exchange, given: string): Promise<Answer> {
    const { registry, reader, execute, permissions, clock } = this.#dependencies;
    const roles = platformType(registry, roleKey);
    if (!roles.ok) return roles.answer;
    const bindings = platformType(registry, roleBindingKey);
    if (!bindings.ok) return bindings.answer;
    const name = given === '-' ? actorOf(exchange.subject) : given;
    // A user of the identity provider has no User object, so any name with `oidcPrefix` can be assigned roles.
    if ((await this.#lookedUp(name)) === undefined && !name.startsWith(oidcPrefix)) return unknownUser(given);
    const body = await readObject(exchange);
    if (!body.ok) return body.answer;
    const context = writeContext(exchange);
    if (!context.ok) return refusal(context.problem);
    const assignment = decodeRoleAssignment(body.value);
    if (!assignment.ok) return refusal(assignment.problem);
    const wanted = assignment.value.roles;
    await this.#learn(wanted);
    const violations = unassignable(wanted, permissions);
    if (violations.length > 0) return refusal(invalidBody('the assignment', violations));
    const ports = { reader, execute, type: bindings.type, clock };
    const replace = { ports, context: context.value };
    const replaced = await this.#inTurn(name, async () => replaceBindings(name, wanted, replace));
    if (!replaced.ok) return refusal(problemOf(replaced.rejection, { kind: bindings.type.kind, name }));
    return bytesAnswer(
      this.#permissionsOf(given === '-' ? exchange.subject : subjectNamed(permissions, name), roles.type),
    );
  }

  /** Returns the role templates by module. Templates without a module are last. */
  templates(): Answer {
    const roles = platformType(this.#dependencies.registry, roleKey);
    if (!roles.ok) return roles.answer;
    const { type } = roles;
    const templates = [...this.#dependencies.permissions.roles()]
      .filter(({ isTemplate, isHidden }) => isTemplate && !isHidden)
      .sort(byTitle);
    const modules = [...new Set(templates.map(moduleOf))].sort(byModule);
    return bytesAnswer(
      listOf(
        modules.map((module) => {
          const members = templates.filter((role) => moduleOf(role) === module).map(({ name }) => name);
          return joined([`{"module":${JSON.stringify(module)},"templates":`, this.#objects(members, type), '}']);
        }),
      ),
    );
  }

  async #inTurn<T>(user: string, task: () => Promise<T>): Promise<T> {
    const mine = (this.#turns.get(user) ?? Promise.resolve()).then(task);
    const settled = mine.then(
      () => undefined,
      () => undefined,
    );
    this.#turns.set(user, settled);
    try {
      return await mine;
    } finally {
      if (this.#turns.get(user) === settled) this.#turns.delete(user);
    }
  }

  #permissionsOf(subject: Subject, type: ResourceType): Buffer {
    const { permissions } = this.#dependencies;
    const rights = permissions.rightsOf(subject);
    const held = [...rights.roles]
      .sort()
      .map((name) => permissions.role(name))
      .filter((role) => role !== undefined);
    const uiPermissions = rights.isSuperAdministrator
      ? ['*']
      : [...new Set(held.flatMap((role) => role.uiPermissions))].sort();
    const bound = subject.kind === 'user' ? permissions.boundRoles(subject.name) : [];
    return joined([
      '{"roles":',
      this.#objects(bound, type),
      ',"permissions":',
      this.#objects(
        held.filter(({ isHidden }) => !isHidden).map(({ name }) => name),
        type,
      ),
      `,"uiPermissions":${JSON.stringify(uiPermissions)}}`,
    ]);
  }

  /** Joins the stored bytes of the roles without parsing. Missing and marked roles are omitted. */
  #objects(names: readonly string[], type: ResourceType): Buffer {
    const { permissions, reader } = this.#dependencies;
    return listOf(
      names
        .filter((name) => permissions.role(name) !== undefined)
        .map((name) => reader.get(type.key, name)?.bytes)
        .filter((bytes) => bytes !== undefined),
    );
  }

  async #lookedUp(name: string): Promise<Subject | undefined> {
    const known = this.#known(name);
    return known === undefined && (await this.#dependencies.unfoldedWrites.refreshObject(userKey, name))
      ? this.#known(name)
      : known;
  }

  /**
   * Reads from the log the roles that this node has not folded yet. Stops at the first missing role, which causes a
   * refusal.
   */
  async #learn(roles: readonly string[]): Promise<void> {
    const { permissions, unfoldedWrites } = this.#dependencies;
    for (const role of roles) {
      if (permissions.role(role) === undefined && !(await unfoldedWrites.refreshObject(roleKey, role))) return;
    }
  }

  #known(name: string): Subject | undefined {
    const { permissions } = this.#dependencies;
    const isKnown =
      permissions.user(name) !== undefined || (name.startsWith(oidcPrefix) && permissions.boundRoles(name).length > 0);
    return isKnown ? subjectNamed(permissions, name) : undefined;
  }
}

/** Permissions with their entity tag, which changes with each change of the permissions. */
type Tagged = { readonly bytes: Buffer; readonly tag: string };

function tagged(bytes: Buffer): Tagged {
  return { bytes, tag: `"${hash('sha256', bytes, 'base64url')}"` };
}

function tagAnswer({ req }: Exchange, { bytes, tag }: Tagged): Answer {
  const headers = ['ETag', tag];
  return isTagKnown(req, tag) ? { kind: 'empty', status: 304, headers } : bytesAnswer(bytes, 200, headers);
}

/** Returns the milliseconds in `wait`, which is a number of seconds; 0 without the parameter. */
function decodeWait(query: URLSearchParams, name: string): number | Problem {
  const misnamed = checkParameterNames(query, { own: ['wait'] });
  if (misnamed !== undefined) return misnamed;
  const text = query.get('wait');
  if (text === null) return 0;
  if (name !== '-') return problem('bad-request', 'wait: only for the own permissions (users/-)');
  const seconds = /^\d{1,3}$/u.test(text) ? Number(text) : Infinity;
  return seconds <= permissionWaitSecondsMax
    ? seconds * 1_000
    : problem('bad-request', `wait: must be a number of seconds from 0 to ${String(permissionWaitSecondsMax)}`);
}

function tooManyWaits(): Answer {
  const detail = `at most ${String(permissionWaitsPerUserMax)} requests of a user wait for a change of permissions`;
  return refusal(problem('too-many-requests', detail, { retryAfterSeconds: permissionWaitSecondsMax }));
}

function unknownUser(name: string): Answer {
  return refusal(problem('not-found', `users "${name}" not found`));
}

function unassignable(roles: readonly string[], permissions: PermissionReader): readonly Violation[] {
  return roles.flatMap((role, index) => {
    const detail =
      permissions.role(role) === undefined
        ? `there is no role named ${JSON.stringify(role)}`
        : roles.indexOf(role) < index
          ? 'is a duplicate'
          : undefined;
    return detail === undefined ? [] : [{ pointer: `/roles/${String(index)}`, detail }];
  });
}

function moduleOf({ module }: Role): string {
  return module ?? '';
}

function byTitle(left: Role, right: Role): number {
  return compared(left.displayName ?? left.name, right.displayName ?? right.name) || compared(left.name, right.name);
}

function byModule(left: string, right: string): number {
  return left === '' || right === '' ? Number(left === '') - Number(right === '') : compared(left, right);
}

function compared(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}

function listOf(elements: readonly Uint8Array[]): Buffer {
  return joined(['[', ...elements.flatMap((element, index) => (index === 0 ? [element] : [',', element])), ']']);
}

function joined(parts: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}
