import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

import { foldedCategories } from '../../../projections/fold-event.ts';
import { LmdbTables } from '../../../projections/lmdb-tables.ts';
import { ObjectModels } from '../../../projections/object-models.ts';
import { PermissionTables } from '../../../projections/permissions/permission-tables.ts';
import { createGrantRules } from '../../../src/auth/authorization/grant-rules.ts';
import { compilePlatformTypes } from '../../../src/auth/types/platform-types.ts';
import type { Command, WriteContext, WriteOutcome } from '../../../src/command/command.ts';
import { createWriteDoor, type Execute } from '../../../src/write/execute.ts';
import { logStart, type EventLog, type LogPosition } from '../../../src/log/log.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { Unsettled } from '../../../src/write/unsettled.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { domain, widgets } from '../../support/given.ts';
import { idOf } from '../../support/id-of.ts';
import { MemoryLog } from '../../support/memory/memory-log.ts';
import { settled, type Shown } from '../../support/writing.ts';

const types: readonly ResourceType[] = [...compilePlatformTypes(domain), widgets];
const platform: WriteContext = {
  cause: { actor: 'test', verb: 'write', requestId: 'r' },
  dryRun: false,
  fieldValidation: undefined,
  origin: 'client',
  subject: { kind: 'platform', part: 'test' },
};
/** Treated like every user's writes, except for quotas: those that apply to all apply to it, too. */
export const anybody: Partial<WriteContext> = { subject: { kind: 'plugin', name: 'p' } };

/** How a node folds: as events come, or not before somebody waits for them. */
export type Pace = 'eager' | 'lazy';

/** What stands between a door and the log. */
export type Through = (log: EventLog) => EventLog;

/** One node: a write door and its read models, which fold only as far as they are let. */
export class Door {
  readonly models: ObjectModels;
  readonly permissions: PermissionTables;
  readonly execute: Execute;
  readonly unsettled: Unsettled;
  readonly #clock: FakeClock;
  pace: Pace = 'eager';
  #wanted: LogPosition = logStart;
  #wake: () => void = () => undefined;

  constructor(
    place: number,
    {
      log,
      clock,
      tables,
      through,
    }: {
      readonly log: MemoryLog;
      readonly clock: FakeClock;
      readonly tables: LmdbTables;
      readonly through?: Through | undefined;
    },
  ) {
    this.#clock = clock;
    const models = new ObjectModels({
      tables,
      identity: () => ({ logId: 'the only one', epoch: 0 }),
      types: (key) => types.find((type) => type.key === key),
      clock,
    });
    this.models = models;
    this.permissions = new PermissionTables({ reader: models, feed: models, domain });
    let ids = 0;
    this.unsettled = new Unsettled({ reader: models, declarations: models.declarations });
    this.execute = createWriteDoor({
      log: through?.(log) ?? log,
      clock,
      domain,
      unsettled: this.unsettled,
      declarations: models.declarations,
      lastEventTime: () => models.lastTime(),
      suffix: () => 'aaaaa',
      uuid: () => {
        ids += 1;
        return idOf(`node ${String(place)} ${String(ids)}`);
      },
      rules: createGrantRules({
        permissions: this.permissions,
        domain,
        typeOfKind: (group, kind) => types.find((type) => type.group === group && type.kind === kind),
      }),
      secrets: {
        keep: async (_withheld, { uid }) => Promise.resolve({ ok: true, kept: { revision: uid.length - uid.length } }),
      },
      reader: {
        snapshots: models.snapshots,
        position: () => models.position(),
        isKnown: (position) => models.isKnown(position),
        get: (...call) => models.get(...call),
        head: (...call) => models.head(...call),
        list: (...call) => models.list(...call),
        names: (...call) => models.names(...call),
        objects: (...call) => models.objects(...call),
        holderOf: (...call) => models.holderOf(...call),
        pages: (...call) => models.pages(...call),
        contains: (...call) => models.contains(...call),
        reached: async (position, options) => {
          this.letTo(position);
          return models.reached(position, options);
        },
      },
    });
  }

  async open(): Promise<void> {
    for (const type of types) await this.models.buildIndexes(type);
    this.permissions.load();
  }

  /** Lets it fold everything up to here, whatever its pace. */
  letTo(position: LogPosition): void {
    if (position > this.#wanted) this.#wanted = position;
    this.#wake();
  }

  async follow(log: MemoryLog, signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => {
      this.#wake();
    });
    for await (const batch of log.subscribe({ after: logStart, categories: foldedCategories, signal })) {
      for (const event of batch) {
        while (this.pace === 'lazy' && event.position > this.#wanted && !signal.aborted)
          await new Promise<void>((go) => {
            this.#wake = go;
          });
        if (signal.aborted) return;
        this.models.apply([event]);
      }
    }
  }

  /** Without letting time pass: for several at once. */
  async begin(
    command: Command,
    changes: Partial<WriteContext> = {},
    type: ResourceType = widgets,
  ): Promise<WriteOutcome> {
    return this.execute(type, command, { ...platform, ...changes });
  }

  async write(
    command: Command,
    changes: Partial<WriteContext> = {},
    type: ResourceType = widgets,
  ): Promise<WriteOutcome> {
    return settled(this.begin(command, changes, type), this.#clock);
  }

  object(name = 'w1', type: ResourceType = widgets): Shown | undefined {
    const stored = this.models.get(type.key, name);
    return stored === undefined ? undefined : (JSON.parse(Buffer.from(stored.bytes).toString('utf8')) as Shown);
  }
}

export type Doors = {
  readonly doors: readonly Door[];
  readonly log: MemoryLog;
  readonly clock: FakeClock;
  readonly settle: <T>(promise: Promise<T>) => Promise<T>;
};

/** Nodes over one log, each with its own door and read models. */
export async function openDoors(t: Test, count = 2, through: readonly Through[] = []): Promise<Doors> {
  const dir = await mkdtemp(join(tmpdir(), 'ledgerplane-doors-'));
  const clock = new FakeClock();
  const log = new MemoryLog();
  const stop = new AbortController();
  const opened = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const tables = new LmdbTables(join(dir, String(index)));
      const door = new Door(index, { log, clock, tables, through: through[index] });
      await door.open();
      return { door, tables, following: door.follow(log, stop.signal) };
    }),
  );
  t.teardown(async () => {
    stop.abort();
    await log.close();
    for (const { tables, following } of opened) {
      await following;
      await tables.close();
    }
    await rm(dir, { recursive: true, force: true });
  });
  return { doors: opened.map(({ door }) => door), log, clock, settle: async (promise) => settled(promise, clock) };
}

export function typeOf(plural: string): ResourceType {
  const type = types.find((one) => one.plural === plural);
  if (type === undefined) throw new Error(`there is no type ${plural}`);
  return type;
}
