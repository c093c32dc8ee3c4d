import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Test } from 'tap';

import { LmdbTables } from '../../projections/lmdb-tables.ts';
import { ObjectModels } from '../../projections/object-models.ts';
import { PermissionTables } from '../../projections/permissions/permission-tables.ts';
import { follow } from '../../projections/runner.ts';
import type { PermissionChange } from '../../src/read/permission-reader.ts';
import type { Command } from '../../src/command/command.ts';
import { createWriteDoor, type Execute } from '../../src/write/execute.ts';
import type { JsonObject } from '../../src/resource/object/object.ts';
import { noRules } from '../../src/write/rules.ts';
import { coreTypes, domain, type Plural } from '../access/access-world.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { idOf } from '../support/id-of.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { shown, type Shown } from '../support/writing.ts';

/** The permission tables over the real read models, written to by the real door. */
export class PermissionStage {
  readonly models: ObjectModels;
  readonly tables: PermissionTables;
  readonly changes: PermissionChange[] = [];
  readonly #execute: Execute;
  readonly #clock: FakeClock;

  private constructor(models: ObjectModels, execute: Execute, clock: FakeClock) {
    this.models = models;
    this.#execute = execute;
    this.#clock = clock;
    this.tables = new PermissionTables({ reader: models, feed: models, domain });
    this.tables.subscribe((concerned) => {
      this.changes.push({ credentials: new Map(concerned.credentials), rights: concerned.rights });
    });
  }

  static async open(t: Test): Promise<PermissionStage> {
    const dir = await mkdtemp(join(tmpdir(), 'ledgerplane-permissions-'));
    const clock = new FakeClock();
    const log = new MemoryLog();
    const rows = new LmdbTables(dir);
    const models = new ObjectModels({
      tables: rows,
      identity: () => ({ logId: 'the only one', epoch: 0 }),
      types: (key) => coreTypes.find((type) => type.key === key),
      clock,
    });
    for (const type of coreTypes) await models.buildIndexes(type);
    const stop = new AbortController();
    const folding = follow(log, models, stop.signal);
    t.teardown(async () => {
      stop.abort();
      await log.close();
      await folding;
      await rows.close();
      await rm(dir, { recursive: true, force: true });
    });
    let ids = 0;
    const execute = createWriteDoor({
      log,
      reader: models,
      clock,
      domain,
      suffix: () => 'aaaaa',
      lastEventTime: () => 0,
      rules: noRules,
      uuid: () => {
        ids += 1;
        return idOf(String(ids));
      },
      secrets: { keep: () => Promise.reject(new Error('nothing is withheld here')) },
    });
    return new PermissionStage(models, execute, clock);
  }

  async create(plural: Plural, name: string, members: JsonObject, metadata: JsonObject = {}): Promise<Shown> {
    return this.#write(plural, { type: 'create', object: { ...members, metadata: { ...metadata, name } } });
  }

  async change(plural: Plural, name: string, document: JsonObject): Promise<Shown> {
    return this.#write(plural, {
      type: 'patch',
      name,
      patch: { kind: 'merge', document },
      part: 'main',
      preconditions: {},
    });
  }

  async mark(plural: Plural, name: string): Promise<Shown> {
    return this.#write(plural, { type: 'delete', name, preconditions: {} });
  }

  /** Notifications to listeners since the last call. */
  takeChanges(): readonly { readonly credentials: readonly string[]; readonly rights: boolean }[] {
    return this.changes.splice(0).map(({ credentials, rights }) => ({ credentials: [...credentials.keys()], rights }));
  }

  async #write(plural: Plural, command: Command): Promise<Shown> {
    const type = coreTypes.find((one) => one.plural === plural)!;
    const outcome = this.#execute(type, command, {
      cause: { actor: 'test', verb: 'write', requestId: 'r' },
      dryRun: false,
      fieldValidation: undefined,
      origin: 'platform',
      subject: { kind: 'platform', part: 'test' },
    });
    const state = { settled: false };
    const end = (): void => {
      state.settled = true;
    };
    outcome.then(end, end);
    for (let turn = 0; !state.settled; turn += 1) {
      await nextTurn();
      if (turn % 4 === 3) this.#clock.advance(1);
    }
    return shown(await outcome);
  }
}
