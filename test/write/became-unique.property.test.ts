import fc from 'fast-check';
import { test } from 'tap';

import type { HeldValue } from '../../src/resource/type/held-values.ts';
import { eventSchema, type EventMetadata, type ObjectEvent } from '../../src/command/event.ts';
import { decodeEvent, decodeMetadata, encodeEvent, isObjectEvent } from '../../src/log/event-codec.ts';
import { logStart, streamName, streamRevision, type ExpectedRevision, type RecordedEvent } from '../../src/log/log.ts';
import type { Declared } from '../../src/read/declarations.ts';
import { claimValues } from '../../src/write/unique/unique-values.ts';
import { drawnClock, drawnLog } from '../support/drawn-schedule.ts';
import { idOf } from '../support/id-of.ts';
import { widget, widgets } from '../support/given.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';

/**
 * Writers of a declaration with a plain index race with writers of the next one, in which it is unique, over a log that
 * delays every call in an order drawn by the scheduler. The older writers claim nothing, and write nothing after an
 * event of the newer declaration: they would have folded it. Of events of the newer declaration at most one may hold
 * the value.
 */
const runs = Number(process.env['PBT_RUNS'] ?? 1_000);
const value: HeldValue = { index: 'spec.serial', hash: 'a'.repeat(64) };
const unique: Declared = {
  revision: streamRevision(1),
  declaration: widgets.declaration!,
  since: { 'spec.serial': 1 },
  always: { 'spec.serial': 1 },
  enforced: {},
  late: 0,
};

/** `declared`: the declaration it is decided by. */
type Plan = { readonly name: string; readonly declared: 0 | 1; readonly steps: readonly ('hold' | 'release')[] };

const plan: fc.Arbitrary<Plan> = fc.record({
  name: fc.constantFrom('w0', 'w0', 'w1', 'w2'),
  declared: fc.constantFrom<0 | 1>(0, 1),
  steps: fc.array(fc.constantFrom<'hold' | 'release'>('hold', 'hold', 'release'), { minLength: 1, maxLength: 3 }),
});

test('since an index became unique at most one event holds a value, for any earlier and late writes', async (t) => {
  let held = 0;
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(plan, { minLength: 2, maxLength: 5 }), async (scheduler, plans) => {
      const log = new MemoryLog();
      let ids = 0;
      const uuid = (): string => idOf(`became unique ${String((ids += 1))}`);
      const check = async (): Promise<void> => {
        const holders = await holdersIn(log);
        if (holders.length > 1) throw new Error(`two holders: ${holders.join(', ')}\n${fc.stringify(scheduler)}`);
        held += holders.length;
      };
      const wait = async (label: string): Promise<void> => {
        await scheduler.schedule(Promise.resolve(), label);
      };
      const world = { log: drawnLog(log, wait, check), clock: drawnClock(wait, { extraMs: 300 }), uuid };
      await scheduler.waitFor(Promise.all(plans.map(async (each) => write(each, world))));
      await check();
      await log.close();
    }),
    { numRuns: runs },
  );
  t.ok(held > runs, `${String(runs)} schedules, in which somebody held the value ${String(held)} times`);
});

type World = {
  readonly log: ReturnType<typeof drawnLog>;
  readonly clock: ReturnType<typeof drawnClock>;
  readonly uuid: () => string;
};

async function write({ name, declared, steps }: Plan, { log, clock, uuid }: World): Promise<void> {
  const me = streamName(`object:${widgets.key}/${name}`);
  for (const step of steps) {
    const head = await log.readLast(me);
    if (declared === 0 && head !== undefined && declaredIn(head) === 1) return;
    const base: ExpectedRevision = head?.revision ?? 'absent';
    const event: ObjectEvent = {
      type: 'ObjectUpdated',
      values: step === 'hold' ? [value] : [],
      object: widget({ metadata: { name } }),
    };
    const metadata = metadataOf(declared);
    if (declared === 1) {
      const dependencies = { log, clock, uuid, charge: () => undefined, owe: () => undefined };
      const refused = await claimValues(dependencies, {
        type: widgets,
        me,
        base,
        event,
        metadata,
        by: unique,
        dryRun: false,
      });
      if (refused.outcome !== 'claimed') continue;
    }
    await log.append(me, [encodeEvent(uuid(), event, metadata)], base);
  }
}

/** By the last events of objects that are of the newer declaration. */
async function holdersIn(log: MemoryLog): Promise<readonly string[]> {
  const heads = new Map<string, RecordedEvent>();
  for await (const batch of log.readAll({ after: logStart, categories: ['object'] }))
    for (const recorded of batch) heads.set(recorded.stream, recorded);
  return [...heads.values()].filter((head) => declaredIn(head) === 1 && holds(head)).map(({ stream }) => stream);
}

function holds(recorded: RecordedEvent): boolean {
  const { event } = decodeEvent(recorded);
  return isObjectEvent(event) && event.values.length > 0;
}

function declaredIn(recorded: RecordedEvent): number | undefined {
  return decodeMetadata(recorded).declared;
}

function metadataOf(declared: number): EventMetadata {
  return {
    actor: 'test',
    verb: 'update',
    requestId: 'r',
    time: '2026-01-01T00:00:00.000Z',
    schema: eventSchema,
    $correlationId: 'r',
    declared,
  };
}
