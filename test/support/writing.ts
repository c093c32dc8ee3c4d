import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';

import { LmdbTables } from '../../projections/lmdb-tables.ts';
import { ObjectModels } from '../../projections/object-models.ts';
import { follow } from '../../projections/runner.ts';
import type { Command, WriteContext, WriteOutcome } from '../../src/command/command.ts';
import type { DomainEvent } from '../../src/command/event.ts';
import type { Subject } from '../../src/command/subject.ts';
import { createWriteDoor, type Execute } from '../../src/write/execute.ts';
import { decodeEvent } from '../../src/log/event-codec.ts';
import { logStart, streamName, type EventLog, type RecordedEvent } from '../../src/log/log.ts';
import type { Metadata, ResourceObject } from '../../src/resource/object/object.ts';
import type { ResourceType } from '../../src/resource/type/resource-type.ts';
import { noRules, type WriteRules } from '../../src/write/rules.ts';
import { HeldBytes } from '../../src/write/admission/held-bytes.ts';
import type { WriteRates } from '../../src/write/admission/writer.ts';
import { Writers } from '../../src/write/admission/writers.ts';
import { UpgradeWaits } from '../../src/write/admission/upgrade-waits.ts';
import { FakeClock } from './clocks/fake-clock.ts';
import { domain, widgets } from './given.ts';
import { idOf } from './id-of.ts';
import { MemoryLog } from './memory/memory-log.ts';

export type Shown = ResourceObject & { readonly metadata: Metadata & { readonly resourceVersion?: string } };

export type WritingOptions = {
  /** Wraps the log that the write door uses. */
  readonly through?: (log: EventLog) => EventLog;
  readonly suffixes?: readonly string[];
  readonly lastEventTime?: number;
  /** The first declaration; by default, `widgets`. */
  readonly type?: ResourceType;
  /** Further types. */
  readonly others?: readonly ResourceType[];
  readonly rules?: WriteRules;
  /** The write limits of every user except `root`, a super administrator. Undefined: no limits. */
  readonly rates?: WriteRates;
  /** Writes wait during upgrades of plugins. By default, they are refused at once. */
  readonly waits?: boolean;
};

export const writeContext: WriteContext = {
  cause: { actor: 'test', verb: 'write', requestId: 'r' },
  dryRun: false,
  fieldValidation: undefined,
  origin: 'client',
  subject: { kind: 'platform', part: 'test' },
};

type Declared = { type: ResourceType };

/** The write door over a log in memory and the real read models. The clock advances only while a write waits. */
export class Writing {
  readonly log: EventLog;
  readonly models: ObjectModels;
  readonly clock: FakeClock;
  readonly execute: Execute;
  readonly held = new HeldBytes();
  readonly stopping = new AbortController();
  readonly upgradeWaits: UpgradeWaits;
  /** Whether the registered type is served: its plugin is not being reloaded. */
  isServing = true;
  readonly #declared: Declared;

  private constructor(
    log: EventLog,
    {
      models,
      clock,
      declared,
    }: { readonly models: ObjectModels; readonly clock: FakeClock; readonly declared: Declared },
    options: WritingOptions,
  ) {
    this.log = log;
    this.models = models;
    this.clock = clock;
    this.#declared = declared;
    let drawn = 0;
    let ids = 0;
    const suffixes = options.suffixes ?? [];
    const isSuperAdministrator = (subject: Subject): boolean => subject.kind === 'user' && subject.name === 'root';
    const writers = options.rates && new Writers({ clock, rates: options.rates, isSuperAdministrator });
    this.upgradeWaits = new UpgradeWaits({ clock, held: this.held, signal: this.stopping.signal });
    models.declarations.subscribe(this.upgradeWaits.changed);
    this.execute = createWriteDoor({
      held: this.held,
      ...(options.waits === true ? { upgradeWaits: this.upgradeWaits } : {}),
      ...(writers === undefined ? {} : { writers }),
      log: options.through?.(log) ?? log,
      reader: models,
      declarations: models.declarations,
      references: models.references,
      typeOf: (key) => [declared.type, ...(options.others ?? [])].find((type) => type.key === key),
      servedType: (key) => (this.isServing && declared.type.key === key ? declared.type : undefined),
      clock,
      domain,
      uuid: () => {
        ids += 1;
        return idOf(`uuid ${String(ids)}`);
      },
      suffix: () => {
        drawn += 1;
        return suffixes[drawn - 1] ?? drawn.toString(36).padStart(5, '0');
      },
      lastEventTime: () => options.lastEventTime ?? 0,
      rules: options.rules ?? noRules,
      secrets: { keep: () => Promise.reject(new Error('nothing is withheld here')) },
    });
  }

  static async open(t: Test, options: WritingOptions = {}): Promise<Writing> {
    const dir = await mkdtemp(join(tmpdir(), 'ledgerplane-writing-'));
    const clock = new FakeClock();
    const log = new MemoryLog();
    const tables = new LmdbTables(dir);
    const declared: Declared = { type: options.type ?? widgets };
    const { others = [] } = options;
    const models = new ObjectModels({
      tables,
      identity: () => ({ logId: 'the only one', epoch: 0 }),
      types: (key) => [declared.type, ...others].find((type) => type.key === key),
      clock,
    });
    for (const type of [declared.type, ...others]) await models.buildIndexes(type);
    const stop = new AbortController();
    const folding = follow(log, models, stop.signal);
    t.teardown(async () => {
      stop.abort();
      await log.close();
      await folding;
      await tables.close();
      await rm(dir, { recursive: true, force: true });
    });
    return new Writing(log, { models, clock, declared }, options);
  }

  /** Declares the type as a later version of its plugin does. */
  async declare(type: ResourceType): Promise<void> {
    this.#declared.type = type;
    await this.models.buildIndexes(type);
    this.upgradeWaits.changed();
  }

  async write(
    command: Command,
    changes: Partial<WriteContext> & { readonly type?: ResourceType } = {},
  ): Promise<WriteOutcome> {
    const { type = this.#declared.type, ...changed } = changes;
    return this.settle(this.execute(type, command, { ...writeContext, ...changed }));
  }

  /** Starts all commands at once. */
  async race(commands: readonly Command[]): Promise<readonly WriteOutcome[]> {
    return this.settle(
      Promise.all(commands.map((command) => this.execute(this.#declared.type, command, writeContext))),
    );
  }

  /** Advances the clock in small steps until `promise` is settled. */
  async settle<T>(promise: Promise<T>): Promise<T> {
    return settled(promise, this.clock);
  }

  object(name = 'w1'): Shown | undefined {
    const stored = this.models.get(widgets.key, name);
    return stored === undefined ? undefined : (JSON.parse(Buffer.from(stored.bytes).toString('utf8')) as Shown);
  }

  /** Returns the events of the whole log, or of one object's stream. */
  async recorded(name?: string): Promise<readonly RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    for await (const batch of this.log.readAll({ after: logStart })) events.push(...batch);
    return name === undefined ? events : events.filter(({ stream }) => stream === streamOf(name));
  }

  async events(name = 'w1'): Promise<readonly DomainEvent[]> {
    return (await this.recorded(name)).map((recorded) => decodeEvent(recorded).event);
  }
}

export function streamOf(name: string) {
  return streamName(`object:${widgets.key}/${name}`);
}

/** Returns the object of a successful write. Throws for a rejection, with its reason. */
export function shown(outcome: WriteOutcome): Shown {
  if (!outcome.ok) throw new Error(`rejected: ${outcome.rejection.reason}: ${outcome.rejection.detail}`);
  return JSON.parse(Buffer.from(outcome.bytes).toString('utf8')) as Shown;
}

/** Returns `ok`, or the reason of the rejection. */
export function verdict(outcome: WriteOutcome): string {
  return outcome.ok ? 'ok' : outcome.rejection.reason;
}

/** Counts the outcomes by verdict. */
export function tally(outcomes: readonly WriteOutcome[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[verdict(outcome)] = (counts[verdict(outcome)] ?? 0) + 1;
  return counts;
}

/** Returns `log` with some of its methods replaced by `changes`. */
export function altered(log: EventLog, changes: Partial<EventLog>): EventLog {
  return {
    append: (...call) => log.append(...call),
    readStream: (...call) => log.readStream(...call),
    readStreamBackward: (...call) => log.readStreamBackward(...call),
    readAllBackward: (options) => log.readAllBackward(options),
    readLast: (stream) => log.readLast(stream),
    readAll: (options) => log.readAll(options),
    subscribe: (options) => log.subscribe(options),
    head: () => log.head(),
    state: () => log.state(),
    readAt: (position) => log.readAt(position),
    close: () => log.close(),
    ...changes,
  };
}

/** Advances the clock in small steps until `promise` is settled. */
export async function settled<T>(promise: Promise<T>, clock: FakeClock): Promise<T> {
  const state = { isSettled: false };
  const end = (): void => {
    state.isSettled = true;
  };
  promise.then(end, end);
  // Most promises settle after a few turns without any timer. Work on the disk or a hash takes longer, so the loop
  // ends, and the clock advances.
  for (let turn = 0; turn < 32 && !state.isSettled; turn += 1) await nextTurn();
  while (!state.isSettled) {
    clock.advance(8);
    await pause(1);
  }
  return promise;
}
