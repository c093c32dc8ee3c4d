import fc from 'fast-check';
import { test } from 'tap';

import type { Clock } from '../../src/base/clock.ts';
import { eventSchema, type EventMetadata, type ObjectEvent } from '../../src/command/event.ts';
import { decodeEvent, encodeEvent } from '../../src/log/event-codec.ts';
import {
  logStart,
  streamName,
  type ExpectedRevision,
  type LogPosition,
  type ProposedEvent,
  type RecordedEvent,
  type StreamName,
  type StreamRevision,
} from '../../src/log/log.ts';
import type { WriterLog } from '../../src/write/retrying-log.ts';
import { HeldGuard, type GuardDependencies } from '../../src/write/guard.ts';
import { StreamQueues } from '../../src/write/stream-queues.ts';
import { Writer } from '../../src/write/admission/writer.ts';
import { drawnClock, drawnLog } from '../support/drawn-schedule.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';

/**
 * Nodes that fold only when waited for each remove supports of a subject that must not lose its last one, over a log
 * that delays every call in an order drawn by the scheduler; some die between their decision and their append, which
 * arrives later or never. The guard alone keeps one support, in any order.
 */
const guard = streamName('guard:supports');
const runs = Number(process.env['PBT_RUNS'] ?? 200);
const seed = process.env['PBT_SEED'];
const replay = seed === undefined ? {} : { seed: Number(seed) };

/** `hops`: how many calls of the others a dead writer's append stays under way. */
type Plan = { readonly node: number; readonly takes: readonly number[]; readonly dies: boolean; readonly hops: number };

const plan: fc.Arbitrary<Plan> = fc.record({
  node: fc.nat(3),
  takes: fc.array(fc.nat(3), { minLength: 1, maxLength: 3 }),
  dies: fc.boolean(),
  hops: fc.nat(30),
});

function property(supports: number, isGuarded: boolean, count: { accepted: number; refused: number }) {
  return fc.asyncProperty(fc.scheduler(), fc.array(plan, { minLength: 2, maxLength: 5 }), async (scheduler, plans) => {
    const world = new World(scheduler, { supports, isGuarded, count });
    await world.begin();
    await scheduler.waitFor(Promise.all(plans.map((writer) => world.write(writer))));
    await world.lateArrive();
    await world.close();
  });
}

test('for any staleness of the folds on nodes that remove supports, one support always stays', async (t) => {
  const count = { accepted: 0, refused: 0 };
  for (const supports of [2, 3, 4])
    await fc.assert(property(supports, true, count), { numRuns: Math.ceil(runs / 3), ...replay });
  t.ok(count.accepted > runs && count.refused > runs / 4, `${JSON.stringify(count)}: there is enough of both`);
});

test('without the guard the last support is soon lost', async (t) => {
  const found = await fc.check(property(2, false, { accepted: 0, refused: 0 }), { numRuns: runs, endOnFailure: true });
  t.ok(found.failed);
  t.match(String(found.errorInstance), /no support is left/u);
});

/** What one node has folded: it stays where it is until somebody waits for more. */
class Fold {
  readonly #log: MemoryLog;
  readonly #pause: () => Promise<void>;
  readonly seen = new Map<StreamName, { readonly revision: StreamRevision; readonly supports: boolean }>();
  #position: LogPosition = logStart;

  constructor(log: MemoryLog, pause: () => Promise<void>) {
    this.#log = log;
    this.#pause = pause;
  }

  position(): LogPosition {
    return this.#position;
  }

  async reached(position: LogPosition): Promise<'reached'> {
    await this.#pause();
    if (position <= this.#position) return 'reached';
    const events: RecordedEvent[] = [];
    for await (const batch of this.#log.readAll({ after: this.#position, until: position })) events.push(...batch);
    // Another may have folded as much meanwhile.
    for (const event of events.filter(({ position: at }) => at > this.#position)) {
      if (event.stream.startsWith('object:'))
        this.seen.set(event.stream, { revision: event.revision, supports: supportsOf(event) });
      this.#position = event.position;
    }
    return 'reached';
  }
}

type History = {
  readonly supports: number;
  readonly isGuarded: boolean;
  readonly count: { accepted: number; refused: number };
};

class World {
  readonly #log = new MemoryLog();
  readonly #scheduler: fc.Scheduler;
  readonly #history: History;
  readonly #slow: WriterLog;
  readonly #nodes: readonly { readonly fold: Fold; readonly turns: StreamQueues }[];
  readonly #clock: Clock;
  #late: { hops: number; readonly append: () => Promise<void> }[] = [];
  #ids = 0;

  constructor(scheduler: fc.Scheduler, history: History) {
    this.#scheduler = scheduler;
    this.#history = history;
    const wait = async (label: string): Promise<void> => {
      await scheduler.schedule(Promise.resolve(), label);
      await this.#lateArriveNow();
    };
    this.#clock = drawnClock(wait, { extraMs: 1_500 });
    this.#slow = drawnLog(this.#log, wait, async () => this.#check());
    this.#nodes = Array.from({ length: 4 }, () => ({
      fold: new Fold(this.#log, async () => wait('fold')),
      turns: new StreamQueues(this.#clock),
    }));
  }

  async begin(): Promise<void> {
    let position = logStart;
    for (let index = 0; index < this.#history.supports; index += 1) {
      const outcome = await this.#log.append(streamOf(index), [this.#encode(index, true)], 'absent');
      if (outcome.ok) position = outcome.position;
    }
    const folded = Promise.all(this.#nodes.map(async ({ fold }) => fold.reached(position)));
    await this.#scheduler.waitFor(folded);
  }

  async write({ node, takes, dies, hops }: Plan): Promise<void> {
    for (const [index, take] of takes.entries()) {
      const held = this.#guardOf(node);
      const outcome = await this.#take(node, take % this.#history.supports, {
        held,
        hops: dies && index === takes.length - 1 ? hops : undefined,
      });
      // A node that dies gives nothing up.
      if (outcome === 'died') return;
      await held.end();
    }
  }

  async lateArrive(): Promise<void> {
    for (const { append } of this.#late.splice(0)) {
      await append();
      await this.#check();
    }
  }

  async close(): Promise<void> {
    await this.#log.close();
  }

  /**
   * As the write door does it: decided and judged on the fold, guarded, and appended at exactly the base that was
   * claimed.
   */
  async #take(
    node: number,
    place: number,
    { held, hops }: { readonly held: HeldGuard; readonly hops: number | undefined },
  ): Promise<'done' | 'died'> {
    const { fold } = this.#nodes[node]!;
    const me = streamOf(place);
    for (let attempt = 0; attempt < 16; attempt += 1) {
      const state = fold.seen.get(me)!;
      const base: ExpectedRevision = state.revision;
      if (!state.supports) return 'done';
      if (this.#history.isGuarded && !held.covers(guard, { me, base })) {
        if (!(await held.take(guard, { me, base }))) return 'done';
        continue;
      }
      if (![...fold.seen].some(([stream, { supports }]) => stream !== me && supports)) {
        this.#history.count.refused += 1;
        return 'done';
      }
      held.spend();
      const proposed = this.#encode(place, false);
      if (hops !== undefined) {
        this.#late.push({
          hops,
          append: async () => {
            await this.#log.append(me, [proposed], base);
          },
        });
        return 'died';
      }
      const outcome = await this.#slow.append(me, [proposed], base);
      if (outcome.ok) {
        this.#history.count.accepted += 1;
        return 'done';
      }
      await fold.reached((await this.#slow.readLast(me))!.position);
    }
    return 'done';
  }

  #guardOf(node: number): HeldGuard {
    const { fold, turns } = this.#nodes[node]!;
    const dependencies: GuardDependencies = {
      log: this.#slow,
      clock: this.#clock,
      uuid: () => this.#id(),
      reader: fold,
      turns,
      writer: new Writer('trusted'),
      foldWaitMs: 1_000,
    };
    return new HeldGuard(dependencies, () => metadata);
  }

  async #lateArriveNow(): Promise<void> {
    for (const late of this.#late) late.hops -= 1;
    const due = this.#late.filter(({ hops }) => hops < 0);
    this.#late = this.#late.filter(({ hops }) => hops >= 0);
    for (const { append } of due) await append();
    if (due.length > 0) await this.#check();
  }

  async #check(): Promise<void> {
    const supports = new Map<StreamName, boolean>();
    for await (const batch of this.#log.readAll({ after: logStart, categories: ['object'] })) {
      for (const event of batch) supports.set(event.stream, supportsOf(event));
    }
    if (![...supports.values()].includes(true)) throw new Error(`no support is left\n${fc.stringify(this.#scheduler)}`);
  }

  #encode(place: number, supports: boolean): ProposedEvent {
    const created = '2026-01-01T00:00:00.000Z';
    const event: ObjectEvent = {
      type: 'ObjectUpdated',
      values: [],
      object: {
        apiVersion: 'example.com/v1',
        kind: 'Support',
        metadata: {
          name: `s${String(place)}`,
          uid: `s${String(place)}`,
          version: 0,
          generation: 1,
          creationTimestamp: created,
        },
        spec: { supports },
      },
    };
    return encodeEvent(this.#id(), event, metadata);
  }

  #id(): string {
    this.#ids += 1;
    return `00000000-0000-4000-8000-${String(this.#ids).padStart(12, '0')}`;
  }
}

const metadata: EventMetadata = {
  actor: 'test',
  verb: 'update',
  requestId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
  $correlationId: 'r',
};

function streamOf(place: number): StreamName {
  return streamName(`object:supports.example.com/s${String(place)}`);
}

function supportsOf(event: RecordedEvent): boolean {
  const { object } = decodeEvent(event).event as ObjectEvent;
  return (object?.['spec'] as { readonly supports: boolean }).supports;
}
