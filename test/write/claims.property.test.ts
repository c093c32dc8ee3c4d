import fc from 'fast-check';
import { test } from 'tap';

import type { HeldValue } from '../../src/resource/type/held-values.ts';
import type { Clock } from '../../src/base/clock.ts';
import { claimStream, claimValue, reconcileClaim } from '../../src/write/unique/unique-claims.ts';
import { eventSchema, type DomainEvent, type EventMetadata, type ObjectEvent } from '../../src/command/event.ts';
import { decodeEvent, encodeEvent, isObjectEvent } from '../../src/log/event-codec.ts';
import {
  logStart,
  streamName,
  type EventLog,
  type ExpectedRevision,
  type ProposedEvent,
  type StreamName,
  type StreamRevision,
} from '../../src/log/log.ts';
import { defineIndexes } from '../../src/resource/type/index-definition.ts';
import type { TypeKey } from '../../src/resource/type/index-entry.ts';
import { claimValues } from '../../src/write/unique/unique-values.ts';
import { drawnClock, drawnLog } from '../support/drawn-schedule.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';

/**
 * Writers race for one unique value over a log that delays every call in an order drawn by the scheduler; some stall
 * forever between their claim and their append, some release the value and come back, some are refused as another of
 * their values is taken. Two may write one object, as nodes do. At no point may two objects hold the value.
 */
const type = 'widgets.example.com' as TypeKey;
const value: HeldValue = { index: 'spec.serial', hash: 'a'.repeat(64) };
const runs = Number(process.env['PBT_RUNS'] ?? 1_000);

/** Claimed after `value`, and never held by a refused writer. */
const takenValue: HeldValue = { index: 'spec.title', hash: 'b'.repeat(64) };
const declared = defineIndexes([value, takenValue].map(({ index: name }) => ({ name, unique: true })));
if (!declared.ok) throw new Error(declared.problems.join('; '));
const { indexes } = declared;

/** `keep`: a write that leaves the value as it is claims nothing. */
type Step = 'hold' | 'keep' | 'release' | 'stall' | 'refused';

/** `hops`: how many calls of the others a stalled writer's append stays pending. `name`: the object that it writes. */
type Plan = { readonly name: string; readonly steps: readonly Step[]; readonly hops: number };

const step = fc.constantFrom<Step>('hold', 'keep', 'release', 'stall', 'refused');
const plan: fc.Arbitrary<Plan> = fc.record({
  name: fc.constantFrom('w0', 'w0', 'w0', 'w1', 'w2'),
  steps: fc.array(step, { minLength: 1, maxLength: 4 }),
  hops: fc.nat(30),
});

test('no interleaving of claims, appends, stalls and fences lets two objects hold one unique value', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(plan, { minLength: 2, maxLength: 4 }), async (scheduler, plans) => {
      const world = await World.open(scheduler);
      const writers = plans.map((writer) => world.write(writer));
      await scheduler.waitFor(Promise.all(writers));
      await world.lateArrive();
      await world.checkClaimNamesHolder();
      await world.close();
    }),
    { numRuns: runs },
  );
  t.pass(`${String(runs)} schedules`);
});

test('claims that two presumed leaders complete break nothing, and in the end each has a holder', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(plan, { minLength: 1, maxLength: 3 }),
      fc.nat(12),
      async (scheduler, plans, looks) => {
        const world = await World.open(scheduler);
        const writers = plans.map((writer) => world.write(writer));
        await scheduler.waitFor(Promise.all([...writers, world.settle(looks), world.settle(looks)]));
        await world.lateArrive();
        await world.checkClaimNamesHolder();
        // Faults have ceased: the settler goes on until there is nothing to do.
        await scheduler.waitFor(world.settle(6));
        await world.checkSettled();
        await world.close();
      },
    ),
    { numRuns: runs },
  );
  t.pass(`${String(runs)} schedules`);
});

class World {
  readonly #log: EventLog;
  /** The same log, as the writers see it: each call leaves and returns when the scheduler says. */
  readonly #slow: Pick<EventLog, 'append' | 'readLast'>;
  readonly #clock: Clock;
  readonly #scheduler: fc.Scheduler;
  /** Appends of dead writers, and how many calls of the others precede each. */
  #late: { hops: number; readonly append: () => Promise<void> }[] = [];
  #ids = 0;

  private constructor(log: EventLog, scheduler: fc.Scheduler) {
    this.#log = log;
    this.#scheduler = scheduler;
    const wait = async (label: string): Promise<void> => {
      await scheduler.schedule(Promise.resolve(), label);
      await this.#lateArriveNow();
    };
    this.#clock = drawnClock(wait, { extraMs: 300 });
    this.#slow = drawnLog(log, wait, async () => this.#check());
  }

  static async open(scheduler: fc.Scheduler): Promise<World> {
    const world = new World(new MemoryLog(), scheduler);
    const holder = streamName(`object:${type}/holder`);
    const claim: DomainEvent = { type: 'ValueClaimed', holder, through: -1 };
    await world.#log.append(claimStream(type, takenValue), [world.#encode(claim)], 'absent');
    await world.#log.append(holder, [world.#encode(object('holder', [takenValue]))], 'absent');
    return world;
  }

  async write({ name, steps, hops }: Plan): Promise<void> {
    const me = streamName(`object:${type}/${name}`);
    for (const step of steps) {
      const last = await this.#slow.readLast(me);
      const base: ExpectedRevision = last?.revision ?? 'absent';
      if (step === 'refused') {
        await this.#refused(name, base);
        continue;
      }
      if (step === 'keep') {
        const isHeld = last !== undefined && holdsValue(decodeEvent(last).event);
        if (isHeld) await this.#append(me, object(name, [value]), base);
        continue;
      }
      if (step === 'release') {
        if (last !== undefined) await this.#append(me, object(name, []), base);
        continue;
      }
      const claimed = await claimValue(
        { log: this.#slow, clock: this.#clock, uuid: () => this.#id(), metadata: () => metadata },
        { type, value, me, base },
      );
      if (claimed.outcome !== 'claimed') continue;
      if (step === 'stall') {
        // Late delivery: the writer is dead, its append still under way.
        this.#late.push({
          hops,
          append: async () => {
            await this.#log.append(me, [this.#encode(object(name, [value]))], base);
          },
        });
        return;
      }
      await this.#append(me, object(name, [value]), base);
    }
  }

  /** Claims the value, finds the other one taken, and sends no append. */
  async #refused(name: string, base: ExpectedRevision): Promise<void> {
    const me = streamName(`object:${type}/${name}`);
    const dependencies = {
      log: this.#slow,
      clock: this.#clock,
      uuid: () => this.#id(),
      charge: () => undefined,
      owe: () => undefined,
    };
    const event = object(name, [value, takenValue]);
    const refused = await claimValues(dependencies, {
      type: { key: type, indexes },
      me,
      base,
      event,
      metadata,
      dryRun: false,
    });
    if (refused.outcome === 'claimed') throw new Error('a taken value was claimed');
  }

  /** As the reconciler does, but without waiting for a pending append: a fenced one must not succeed later. */
  async settle(looks: number): Promise<void> {
    let fenceOf: StreamRevision | undefined;
    for (let look = 0; look < looks; look += 1) {
      const came = await reconcileClaim(
        { log: this.#slow, clock: this.#clock, uuid: () => this.#id(), metadata: () => metadata },
        { stream: claimStream(type, value), value, fenceOf },
      );
      fenceOf = came.outcome === 'pending' ? came.claim : undefined;
    }
  }

  /** A claim that stands is its holder's. */
  async checkSettled(): Promise<void> {
    const last = await this.#log.readLast(claimStream(type, value));
    const event = last === undefined ? undefined : decodeEvent(last).event;
    const [holder] = await this.#holders();
    const claimed = event?.type === 'ValueClaimed' ? event.holder : undefined;
    if (claimed !== holder) throw new Error(`${String(claimed)} claims what ${String(holder)} holds`);
  }

  /** Invariant 1: one live holder a value, and its claim names it. */
  async checkClaimNamesHolder(): Promise<void> {
    const [holder] = await this.#holders();
    if (holder === undefined) return;
    const last = await this.#log.readLast(claimStream(type, value));
    const event = last === undefined ? undefined : decodeEvent(last).event;
    if (event?.type !== 'ValueClaimed' || event.holder !== holder)
      throw new Error(`${holder} holds the value, its claim says ${JSON.stringify(event)}`);
  }

  /** Everything still under way lands. */
  async lateArrive(): Promise<void> {
    for (const late of this.#late.splice(0)) {
      await late.append();
      await this.#check();
    }
  }

  async close(): Promise<void> {
    await this.#log.close();
  }

  async #lateArriveNow(): Promise<void> {
    for (const late of this.#late) late.hops -= 1;
    const due = this.#late.filter(({ hops }) => hops < 0);
    this.#late = this.#late.filter(({ hops }) => hops >= 0);
    for (const late of due) await late.append();
    if (due.length > 0) await this.#check();
  }

  async #check(): Promise<void> {
    const holders = await this.#holders();
    if (holders.length > 1) throw new Error(`two holders: ${holders.join(', ')}\n${fc.stringify(this.#scheduler)}`);
  }

  async #holders(): Promise<readonly StreamName[]> {
    const holders = new Map<StreamName, boolean>();
    for await (const batch of this.#log.readAll({ after: logStart, categories: ['object'] })) {
      for (const recorded of batch) {
        const { event } = decodeEvent(recorded);
        holders.set(recorded.stream, holdsValue(event));
      }
    }
    return [...holders].filter(([, holds]) => holds).map(([stream]) => stream);
  }

  async #append(stream: StreamName, event: DomainEvent, expected: ExpectedRevision): Promise<void> {
    await this.#slow.append(stream, [this.#encode(event)], expected);
  }

  #encode(event: DomainEvent): ProposedEvent {
    return encodeEvent(this.#id(), event, metadata);
  }

  #id(): string {
    this.#ids += 1;
    return `00000000-0000-4000-8000-${String(this.#ids).padStart(12, '0')}`;
  }
}

const metadata: EventMetadata = {
  actor: 'test',
  verb: 'create',
  requestId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
  $correlationId: 'r',
};

function object(name: string, values: readonly HeldValue[]): ObjectEvent {
  const created = '2026-01-01T00:00:00.000Z';
  return {
    type: 'ObjectUpdated',
    values,
    object: {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name, uid: name, version: 0, generation: 1, creationTimestamp: created },
    },
  };
}

function holdsValue(event: DomainEvent): boolean {
  return isObjectEvent(event) && event.values.some(({ hash }) => hash === value.hash);
}
