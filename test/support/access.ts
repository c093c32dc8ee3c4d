import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

import { LmdbTables } from '../../projections/lmdb-tables.ts';
import { ObjectModels } from '../../projections/object-models.ts';
import { PermissionTables } from '../../projections/permissions/permission-tables.ts';
import { follow } from '../../projections/runner.ts';
import { createGrantRules } from '../../src/auth/authorization/grant-rules.ts';
import { noHashCost, Passwords } from '../../src/auth/passwords/password.ts';
import { Secrets, type SecretsDependencies } from '../../src/auth/authentication/secrets.ts';
import { compilePlatformTypes } from '../../src/auth/types/platform-types.ts';
import type { Command, WriteContext, WriteOutcome } from '../../src/command/command.ts';
import type { DomainEvent } from '../../src/command/event.ts';
import { actorOf, type Subject, type UserSubject } from '../../src/command/subject.ts';
import { createWriteDoor, type Execute } from '../../src/write/execute.ts';
import { decodeEvent } from '../../src/log/event-codec.ts';
import { logStart, type EventLog, type RecordedEvent } from '../../src/log/log.ts';
import type { JsonObject, JsonValue } from '../../src/resource/object/object.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import type { SecretKeeper } from '../../src/write/rules.ts';
import { FakeClock } from './clocks/fake-clock.ts';
import { domain, widgets } from './given.ts';
import { idOf } from './id-of.ts';
import { MemoryLog } from './memory/memory-log.ts';
import { settled, shown, verdict, type Shown } from './writing.ts';

export const platform: Subject = { kind: 'platform', part: 'test' };

/** The plural names of the types of access control. */
export type Plural = 'roles' | 'rolebindings' | 'users' | 'personalaccesstokens' | 'sessions' | 'widgets';

export type AccessOptions = {
  /** Makes the secrets; by default, the real ones, in which a password's hash takes 0.1 s. */
  readonly secrets?: (given: SecretsDependencies) => SecretKeeper;
  /** Wraps the log that the write door uses. */
  readonly through?: (log: EventLog) => EventLog;
  /** Additional types beside the platform's types and the Widget. */
  readonly types?: readonly ResourceType[];
};

/**
 * The write door with the real rules of access control: a log in memory, and the real read models, permission tables
 * and secrets. The clock advances only while a write waits.
 */
export class Access {
  readonly clock: FakeClock;
  readonly log: EventLog;
  readonly models: ObjectModels;
  readonly permissions: PermissionTables;
  readonly execute: Execute;
  readonly types: ReadonlyMap<string, ResourceType>;

  private constructor(parts: Pick<Access, 'clock' | 'log' | 'models' | 'permissions' | 'execute' | 'types'>) {
    this.clock = parts.clock;
    this.log = parts.log;
    this.models = parts.models;
    this.permissions = parts.permissions;
    this.execute = parts.execute;
    this.types = parts.types;
  }

  static async open(t: Test, options: AccessOptions = {}): Promise<Access> {
    const dir = await mkdtemp(join(tmpdir(), 'ledgerplane-access-'));
    const clock = new FakeClock();
    const log = new MemoryLog();
    const all = [...compilePlatformTypes(domain), widgets, ...(options.types ?? [])];
    const tables = new LmdbTables(dir);
    const models = new ObjectModels({
      tables,
      identity: () => ({ logId: 'the only one', epoch: 0 }),
      types: (key) => all.find((type) => type.key === key),
      clock,
    });
    for (const type of all) await models.buildIndexes(type);
    const permissions = new PermissionTables({ reader: models, feed: models, domain });
    permissions.load();
    const stop = new AbortController();
    const folding = follow(log, models, stop.signal);
    t.teardown(async () => {
      stop.abort();
      await log.close();
      await folding;
      await tables.close();
      await rm(dir, { recursive: true, force: true });
    });
    let ids = 0;
    let drawn = 0;
    const execute = createWriteDoor({
      log: options.through?.(log) ?? log,
      reader: models,
      clock,
      domain,
      lastEventTime: () => 0,
      uuid: () => {
        ids += 1;
        return idOf(`uuid ${String(ids)}`);
      },
      suffix: () => {
        drawn += 1;
        return drawn.toString(36).padStart(5, '0');
      },
      rules: createGrantRules({
        permissions,
        domain,
        typeOfKind: (group, kind) => all.find((type) => type.group === group && type.kind === kind),
      }),
      secrets:
        options.secrets?.({ log, clock, folded: models }) ??
        new Secrets({ log, clock, folded: models, passwords: new Passwords(noHashCost) }),
    });
    return new Access({
      clock,
      log,
      models,
      permissions,
      execute,
      types: new Map(all.map((type) => [type.plural, type])),
    });
  }

  /** Returns the writes of a subject; a name means the user with that name, authenticated by password. */
  as(subject: Subject | string): Acting {
    return new Acting(this, typeof subject === 'string' ? this.user(subject) : subject);
  }

  /** Returns the user as a subject that has logged in with the password. */
  user(name: string): UserSubject {
    return {
      kind: 'user',
      name,
      credential: { kind: 'password', uid: this.permissions.user(name)?.uid ?? idOf(`user ${name}`) },
    };
  }

  /** Creates a test's initial objects as the platform. Throws for a refusal. */
  async given(...objects: readonly JsonObject[]): Promise<void> {
    for (const object of objects) shown(await this.as(platform).create(object));
  }

  type(plural: string): ResourceType {
    const type = this.types.get(plural);
    if (type === undefined) throw new Error(`there is no type ${plural}`);
    return type;
  }

  object(plural: Plural, name: string): Shown | undefined {
    const stored = this.models.get(this.type(plural).key, name);
    return stored === undefined ? undefined : (JSON.parse(Buffer.from(stored.bytes).toString('utf8')) as Shown);
  }

  async recorded(): Promise<readonly RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    for await (const batch of this.log.readAll({ after: logStart })) events.push(...batch);
    return events;
  }

  async events(): Promise<readonly DomainEvent[]> {
    return (await this.recorded()).map((recorded) => decodeEvent(recorded).event);
  }

  /** Advances the clock in small steps until `promise` is settled. */
  async settle<T>(promise: Promise<T>): Promise<T> {
    return settled(promise, this.clock);
  }
}

/** One subject's writes. */
export class Acting {
  readonly #access: Access;
  readonly subject: Subject;

  constructor(access: Access, subject: Subject) {
    this.#access = access;
    this.subject = subject;
  }

  /** Creates an object of the type that its kind names. */
  async create(object: JsonObject, changes: Partial<WriteContext> = {}): Promise<WriteOutcome> {
    return this.write(pluralOf(object), { type: 'create', object }, changes);
  }

  async replace(object: JsonObject, changes: Partial<WriteContext> = {}): Promise<WriteOutcome> {
    return this.write(
      pluralOf(object),
      { type: 'replace', name: nameOf(object), object, part: 'main', preconditions: {} },
      changes,
    );
  }

  /** Applies a merge patch. */
  async patch(plural: Plural, name: string, document: JsonValue): Promise<WriteOutcome> {
    return this.write(plural, {
      type: 'patch',
      name,
      patch: { kind: 'merge', document },
      part: 'main',
      preconditions: {},
    });
  }

  async delete(plural: Plural, name: string): Promise<WriteOutcome> {
    return this.write(plural, { type: 'delete', name, preconditions: {} });
  }

  /** Removes a marked object: removes its finalizers, or acts as the collector. */
  async collect(plural: Plural, name: string): Promise<WriteOutcome> {
    const { finalizers, uid = '' } = this.#access.object(plural, name)?.metadata ?? {};
    if (finalizers !== undefined) return this.patch(plural, name, { metadata: { finalizers: null } });
    return this.write(plural, { type: 'collect', name, uid });
  }

  async write(plural: string, command: Command, changes: Partial<WriteContext> = {}): Promise<WriteOutcome> {
    const context: WriteContext = {
      cause: { actor: actorOf(this.subject), verb: command.type, requestId: 'r' },
      dryRun: false,
      fieldValidation: undefined,
      origin: 'client',
      subject: this.subject,
      ...changes,
    };
    return this.#access.settle(this.#access.execute(this.#access.type(plural), command, context));
  }
}

/** Returns an outcome as text: `ok`, or the reason with the pointers of the violations. */
export function refusal(outcome: WriteOutcome): string {
  if (outcome.ok || !('violations' in outcome.rejection)) return verdict(outcome);
  return [outcome.rejection.reason, ...outcome.rejection.violations.map(({ pointer }) => pointer)].join(' ');
}

export type RuleText = JsonObject;

/**
 * Returns a rule: `rule('get,list', 'posts')`, `rule('get', 'posts', { apiGroups: ['a.b'], resourceNames: ['x'] })`.
 * The default group is example.com.
 */
export function rule(verbs: string, resources: string, more: JsonObject = {}): RuleText {
  return { apiGroups: ['example.com'], resources: resources.split(','), verbs: verbs.split(','), ...more };
}

export function pathRule(verbs: string, urls: string): RuleText {
  return { nonResourceURLs: urls.split(','), verbs: verbs.split(',') };
}

export const everythingRules: readonly RuleText[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
];

export type RoleTies = {
  readonly dependencies?: readonly string[];
  readonly aggregateTo?: readonly string[];
  readonly labels?: JsonObject;
  readonly annotations?: JsonObject;
};

export function role(
  name: string,
  rules: readonly RuleText[] = [],
  { dependencies, aggregateTo = [], labels = {}, annotations = {} }: RoleTies = {},
): JsonObject {
  const tied = Object.fromEntries(aggregateTo.map((to) => [`rbac.authorization.${domain}/aggregate-to-${to}`, 'true']));
  const depending =
    dependencies === undefined ? {} : { [`rbac.authorization.${domain}/dependencies`]: JSON.stringify(dependencies) };
  const metadata = { labels: { ...tied, ...labels }, annotations: { ...depending, ...annotations } };
  // The server does not store an empty map.
  const present = Object.fromEntries(Object.entries(metadata).filter(([, map]) => Object.keys(map).length > 0));
  return { apiVersion: 'v1alpha1', kind: 'Role', metadata: { name, ...present }, rules };
}

export function binding(name: string, to: string, ...users: readonly string[]): JsonObject {
  return {
    apiVersion: 'v1alpha1',
    kind: 'RoleBinding',
    metadata: { name },
    roleRef: { apiGroup: '', kind: 'Role', name: to },
    subjects: users.map((user) => ({ apiGroup: '', kind: 'User', name: user })),
  };
}

export function user(name: string, spec: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1alpha1', kind: 'User', metadata: { name }, spec };
}

export function token(name: string, spec: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1alpha1', kind: 'PersonalAccessToken', metadata: { name }, spec };
}

export function session(name: string, of: string, status: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1alpha1', kind: 'Session', metadata: { name }, spec: { user: of }, status };
}

function pluralOf({ kind }: JsonObject): string {
  return `${(kind as string).toLowerCase()}s`;
}

function nameOf({ metadata }: JsonObject): string {
  return (metadata as JsonObject)['name'] as string;
}
