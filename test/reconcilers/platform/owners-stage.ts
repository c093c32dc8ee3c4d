import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Test } from 'tap';

import { LmdbTables } from '../../../projections/lmdb-tables.ts';
import { ObjectModels } from '../../../projections/object-models.ts';
import { follow } from '../../../projections/runner.ts';
import { ReconcileSlots } from '../../../reconcilers/reconcile-slots.ts';
import { Collector } from '../../../reconcilers/platform/collector.ts';
import { alwaysLeading } from '../../../reconcilers/lease.ts';
import { OwnerReferences } from '../../../reconcilers/platform/owner-references.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { sliceMs } from '../../../src/base/slices.ts';
import type { Command } from '../../../src/command/command.ts';
import type { Propagation } from '../../../src/command/propagation.ts';
import { createWriteDoor, type Execute } from '../../../src/write/execute.ts';
import type { EventLog } from '../../../src/log/log.ts';
import type { JsonObject, OwnerReference } from '../../../src/resource/object/object.ts';
import type { ResourceType } from '../../../src/resource/type/resource-type.ts';
import { noRules } from '../../../src/write/rules.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { domain, widgets } from '../../support/given.ts';
import { idOf } from '../../support/id-of.ts';
import { MemoryLog } from '../../support/memory/memory-log.ts';
import { shown, type Shown } from '../../support/writing.ts';

type Running = { readonly owners: OwnerReferences; readonly collector: Collector };

/** Widgets that own each other, over the real write door and read models, with as many leaders as a test wants. */
export class OwnersStage {
  readonly clock = new FakeClock();
  readonly log: EventLog = new MemoryLog();
  readonly models: ObjectModels;
  readonly errors: unknown[] = [];
  serving: readonly ResourceType[] = [widgets];
  /** Leaders from now on pause wherever they may. */
  isSlow = false;
  readonly #execute: Execute;
  #running: Running[] = [];
  #ids = 0;

  private constructor(tables: LmdbTables) {
    this.models = new ObjectModels({
      tables,
      identity: () => ({ logId: 'the only one', epoch: 0 }),
      types: (key) => (key === widgets.key ? widgets : undefined),
      clock: this.clock,
    });
    this.#execute = createWriteDoor({
      log: this.log,
      reader: this.models,
      clock: this.clock,
      domain,
      suffix: () => 'aaaaa',
      lastEventTime: () => 0,
      rules: noRules,
      uuid: () => this.#id(),
      secrets: { keep: () => Promise.reject(new Error('nothing is withheld here')) },
    });
  }

  static async open(t: Pick<Test, 'teardown'>): Promise<OwnersStage> {
    const dir = await mkdtemp(join(tmpdir(), 'ledgerplane-owners-'));
    const tables = new LmdbTables(dir);
    const stage = new OwnersStage(tables);
    await stage.models.buildIndexes(widgets);
    const stop = new AbortController();
    const folding = follow(stage.log, stage.models, stop.signal);
    t.teardown(async () => {
      await stage.stopAll();
      stop.abort();
      await stage.log.close();
      await folding;
      await tables.close();
      await rm(dir, { recursive: true, force: true });
    });
    return stage;
  }

  /** One more node that believes to lead. */
  async lead(): Promise<void> {
    const given = {
      changes: this.models,
      reader: this.models,
      execute: this.#execute,
      bound: new ReconcileSlots(this.clock),
      leadership: alwaysLeading,
      clock: this.clock,
      uuid: () => this.#id(),
      types: (key: string) => (key === widgets.key ? widgets : undefined),
      serving: () => this.serving,
      onError: (error: unknown) => {
        this.errors.push(error);
      },
    };
    const owners = new OwnerReferences({
      ...given,
      withoutOwners: new Set(),
      clock: this.isSlow ? slowed(this.clock) : this.clock,
      typeOfKind: (group, kind) => (group === widgets.group && kind === widgets.kind ? widgets : undefined),
    });
    const running = { owners, collector: new Collector(given) };
    this.#running.push(running);
    running.collector.open();
    running.owners.open();
    await running.owners.opened();
  }

  /** As when a plugin has started. */
  async serve(type: ResourceType): Promise<void> {
    this.serving = [type];
    await Promise.all(
      this.#running.map(async ({ owners, collector }) => {
        collector.enqueueAll(type);
        await owners.serve(type);
      }),
    );
  }

  async stopAll(): Promise<void> {
    await this.#letPass(
      Promise.all(this.#running.splice(0).flatMap(({ owners, collector }) => [owners.stop(), collector.stop()])),
    );
  }

  async create(
    name: string,
    ownerReferences: readonly OwnerReference[] = [],
    finalizers: readonly string[] = [],
  ): Promise<Shown> {
    return this.#write({
      type: 'create',
      object: {
        metadata: { name, ownerReferences: ownerReferences as unknown as JsonObject[], finalizers },
        spec: { title: name },
      },
    });
  }

  async patch(name: string, document: JsonObject): Promise<Shown> {
    return this.#write({ type: 'patch', name, patch: { kind: 'merge', document }, part: 'main', preconditions: {} });
  }

  async delete(name: string, propagation?: Propagation): Promise<Shown> {
    return this.#write({ type: 'delete', name, preconditions: {}, propagation });
  }

  object(name: string): Shown | undefined {
    const stored = this.models.get(widgets.key, name);
    return stored === undefined ? undefined : (JSON.parse(Buffer.from(stored.bytes).toString('utf8')) as Shown);
  }

  names(): readonly string[] {
    return [...this.models.pages(widgets.key, { selection: { labels: [], fields: [] }, sort: [] })].flat().sort();
  }

  /** Until nobody has anything to do. */
  async settle(): Promise<void> {
    let position = -1n;
    while (position !== this.models.position()) {
      position = this.models.position();
      await this.#letPass(
        Promise.all(this.#running.flatMap(({ owners, collector }) => [owners.idle(), collector.idle()])),
      );
      for (let turn = 0; turn < 8; turn += 1) await nextTurn();
    }
  }

  async #write(command: Command): Promise<Shown> {
    return shown(
      await this.#letPass(
        this.#execute(widgets, command, {
          cause: { actor: 'test', verb: 'write', requestId: 'r' },
          dryRun: false,
          fieldValidation: undefined,
          origin: 'client',
          subject: { kind: 'platform', part: 'test' },
        }),
      ),
    );
  }

  async #letPass<T>(promise: Promise<T>): Promise<T> {
    const state = { isSettled: false };
    const end = (): void => {
      state.isSettled = true;
    };
    promise.then(end, end);
    for (let turn = 0; !state.isSettled; turn += 1) {
      await nextTurn();
      if (turn % 4 === 3) this.clock.advance(1);
    }
    return promise;
  }

  #id(): string {
    this.#ids += 1;
    return idOf(`uuid ${String(this.#ids)}`);
  }
}

/** Each look at it passes a slice of time. */
function slowed(clock: Clock): Clock {
  let looks = 0;
  return {
    now: () => clock.now(),
    after: (delayMs, task) => clock.after(delayMs, task),
    monotonic: () => {
      looks += 1;
      return clock.monotonic() + looks * sliceMs;
    },
  };
}

export function ownedBy(
  { metadata: { name, uid } }: Shown,
  flags: { readonly blockOwnerDeletion?: boolean } = {},
): OwnerReference {
  return { apiVersion: widgets.apiVersion, kind: widgets.kind, name, uid, ...flags };
}
