import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Test } from 'tap';

import { LmdbTables } from '../../../projections/lmdb-tables.ts';
import { ObjectModels } from '../../../projections/object-models.ts';
import { PermissionTables } from '../../../projections/permissions/permission-tables.ts';
import { catchUp, follow } from '../../../projections/runner.ts';
import { UnfoldedWrites } from '../../../src/auth/authentication/unfolded-writes.ts';
import { Authenticator } from '../../../src/auth/authentication/authenticator.ts';
import { Secrets } from '../../../src/auth/authentication/secrets.ts';
import {
  compilePlatformTypes,
  platformTypes,
  roleBindingKey,
  sessionKey,
  tokenKey,
  userKey,
} from '../../../src/auth/types/platform-types.ts';
import type { Command, WriteOutcome } from '../../../src/command/command.ts';
import type { Subject } from '../../../src/command/subject.ts';
import { createWriteDoor, type Execute } from '../../../src/write/execute.ts';
import { logStart, type EventLog, type RecordedEvent } from '../../../src/log/log.ts';
import type { TypeKey } from '../../../src/resource/type/index-entry.ts';
import type { JsonObject } from '../../../src/resource/object/object.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { typeKeyOf } from '../../../src/resource/type/type-declaration.ts';
import { noRules } from '../../../src/write/rules.ts';
import { CountingPasswords } from '../../auth/credentials.ts';
import { FakeClock } from '../clocks/fake-clock.ts';
import { domain } from '../given.ts';
import { MemoryLog } from '../memory/memory-log.ts';
import type { Shown } from '../writing.ts';

export const test: Subject = { kind: 'platform', part: 'test' };

/**
 * Users, tokens and sessions over a log in memory: the real write door, read models, tables and authenticator, without
 * admission rules.
 */
export class Accounts {
  readonly log: EventLog;
  readonly models: ObjectModels;
  readonly permissions: PermissionTables;
  readonly clock: FakeClock;
  readonly execute: Execute;
  readonly secrets: Secrets;
  readonly passwords = new CountingPasswords();
  readonly authenticator: Authenticator;
  readonly users: ResourceType;
  readonly roleBindings: ResourceType;
  readonly tokens: ResourceType;
  readonly sessions: ResourceType;

  private constructor(
    log: EventLog,
    models: ObjectModels,
    { clock, types }: { readonly clock: FakeClock; readonly types: ReadonlyMap<TypeKey, ResourceType> },
  ) {
    this.log = log;
    this.models = models;
    this.clock = clock;
    this.secrets = new Secrets({ log, clock, folded: models, passwords: this.passwords });
    this.permissions = new PermissionTables({ reader: models, feed: models, domain });
    const strategies = new Map(
      platformTypes(domain).map(({ declaration, strategy }) => [typeKeyOf('', declaration.plural), strategy]),
    );
    this.execute = createWriteDoor({
      log,
      reader: models,
      clock,
      domain,
      uuid: randomUUID,
      suffix: () => randomUUID().slice(0, 5),
      lastEventTime: () => 0,
      rules: { ...noRules, strategyOf: (key) => strategies.get(key) },
      secrets: this.secrets,
    });
    this.authenticator = new Authenticator({
      secrets: this.secrets,
      passwords: this.passwords,
      permissions: this.permissions,
      clock,
      unfoldedWrites: new UnfoldedWrites({ log, reader: models, secrets: this.secrets }),
      recordUse: { token: () => undefined, session: () => undefined },
    });
    const typeOf = (key: TypeKey): ResourceType => types.get(key)!;
    [this.users, this.roleBindings, this.tokens, this.sessions] = [
      typeOf(userKey),
      typeOf(roleBindingKey),
      typeOf(tokenKey),
      typeOf(sessionKey),
    ];
  }

  static async open(
    t: Test,
    { log = new MemoryLog(), clock = new FakeClock() }: { readonly log?: EventLog; readonly clock?: FakeClock } = {},
  ): Promise<Accounts> {
    const dir = await mkdtemp(join(tmpdir(), 'ledgerplane-accounts-'));
    const types = new Map(compilePlatformTypes(domain).map((type) => [type.key, type]));
    const tables = new LmdbTables(dir);
    const models = new ObjectModels({
      tables,
      identity: () => ({ logId: 'the only one', epoch: 0 }),
      types: (key) => types.get(key),
      clock,
    });
    const accounts = new Accounts(log, models, { clock, types });
    const stop = new AbortController();
    await catchUp(log, models, { signal: stop.signal });
    for (const type of types.values()) await models.buildIndexes(type);
    accounts.permissions.load();
    const folding = follow(log, models, stop.signal);
    t.teardown(async () => {
      stop.abort();
      await folding;
      await tables.close();
      await rm(dir, { recursive: true, force: true });
    });
    return accounts;
  }

  async write(type: ResourceType, command: Command, subject: Subject = test): Promise<WriteOutcome> {
    return this.execute(type, command, {
      subject,
      cause: { actor: 'test', verb: 'write', requestId: 'r' },
      dryRun: false,
      fieldValidation: undefined,
      origin: 'client',
    });
  }

  async create(type: ResourceType, name: string, members: JsonObject): Promise<Shown> {
    return shownOf(
      await this.write(type, {
        type: 'create',
        object: { apiVersion: type.apiVersion, kind: type.kind, metadata: { name }, ...members },
      }),
    );
  }

  async merge(type: ResourceType, name: string, document: JsonObject): Promise<Shown> {
    return shownOf(
      await this.write(type, {
        type: 'patch',
        name,
        part: 'main',
        preconditions: {},
        patch: { kind: 'merge', document },
      }),
    );
  }

  async remove(type: ResourceType, name: string): Promise<void> {
    shownOf(await this.write(type, { type: 'delete', name, preconditions: {} }));
  }

  object(type: ResourceType, name: string): Shown | undefined {
    const stored = this.models.get(type.key, name);
    return stored === undefined ? undefined : (JSON.parse(Buffer.from(stored.bytes).toString('utf8')) as Shown);
  }

  names(type: ResourceType): readonly string[] {
    return [...this.models.pages(type.key, { selection: { labels: [], fields: [] }, sort: [] })].flat();
  }

  async recorded(): Promise<readonly RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    for await (const batch of this.log.readAll({ after: logStart })) events.push(...batch);
    return events;
  }
}

/** Waits, turn by turn of the event loop, until `holds` returns true. */
export async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 100_000; turn += 1) {
    if (holds()) return;
    await nextTurn();
  }
  throw new Error('it never came to hold');
}

function shownOf(outcome: WriteOutcome): Shown {
  if (!outcome.ok) throw new Error(`rejected: ${outcome.rejection.reason}: ${outcome.rejection.detail}`);
  return JSON.parse(Buffer.from(outcome.bytes).toString('utf8')) as Shown;
}
