/**
 * Folding with slow index functions: the length of a turn, and the visible state after each. Time is a fake clock's,
 * advanced by the index functions themselves.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type Test } from 'tap';

import { LmdbTables } from '../../projections/lmdb-tables.ts';
import { ObjectModels } from '../../projections/object-models.ts';
import { catchUp, follow } from '../../projections/runner.ts';
import { sliceMs } from '../../src/base/slices.ts';
import { projectionBatchEventsMax } from '../../src/limits/log.ts';
import { eventSchema, type EventMetadata } from '../../src/command/event.ts';
import { encodeEvent } from '../../src/log/event-codec.ts';
import {
  streamName,
  type AppendOutcome,
  type EventLog,
  type LogPosition,
  type ProposedEvent,
} from '../../src/log/log.ts';
import { create, created, deleted, marked, widget, widgets, widgetType } from '../support/given.ts';
import { idOf } from '../support/id-of.ts';
import { appended } from '../support/memory/log-events.ts';
import { turnsOf } from '../support/clocks/turns.ts';
import { settled, Writing } from '../support/writing.ts';

const signal = new AbortController().signal;

/**
 * A log of objects, and other read models of it that know the type by an index function that takes `costMs` for each.
 */
async function given(t: Test, { objects, costMs }: { readonly objects: number; readonly costMs: number }) {
  const writing = await Writing.open(t, { type: widgetType({ indexes: [{ name: 'spec.title' }] }) });
  const { log, clock } = writing;
  await writing.race(
    Array.from({ length: objects }, (_, index) =>
      create({ metadata: { name: `w${String(index)}` }, spec: { title: 'T' } }),
    ),
  );
  const indexFunc = (): string => {
    clock.advance(costMs);
    return 'x';
  };
  const type = widgetType({ indexes: [{ name: 'spec.serial', indexFunc }] });
  const dir = await mkdtemp(join(tmpdir(), 'ledgerplane-runner-'));
  const tables = new LmdbTables(dir);
  const identity = { logId: 'the only one', epoch: 0 };
  const models = new ObjectModels({
    tables,
    identity: () => identity,
    types: (key) => (key === type.key ? type : undefined),
    clock,
  });
  t.teardown(async () => {
    await tables.close();
    await rm(dir, { recursive: true, force: true });
  });
  const batches: number[] = [];
  models.subscribe(({ changes, position }) => {
    batches.push(changes.length);
    t.equal(models.position(), position);
    t.match(models.checkpoint(), { position, events: models.folded() });
    if (objects === 0) return;
    const rows = models.namesOf(type.key, { after: undefined, limit: objects });
    t.equal(rows.length, models.folded(), 'rows of folded events, and of no more');
  });
  return { log, clock, models, batches };
}

test('a catch-up with a slow index function yields by time', async (t) => {
  const objects = 2 * projectionBatchEventsMax + 1;
  const { log, clock, models, batches } = await given(t, { objects, costMs: 1 });
  const { longestMs } = await turnsOf(clock, catchUp(log, models, { signal }));
  t.ok(longestMs <= sliceMs, `${String(longestMs)} ms in one turn`);
  t.equal(models.folded(), objects);
  t.equal(sum(batches), objects, 'each change once');
});

test('an append is folded whole, across the end of a slice by number or time, in a catch-up or live', async (t) => {
  for (const costMs of [0, 2 * sliceMs]) {
    const { log, clock, models, batches } = await given(t, { objects: 0, costMs });
    const stop = new AbortController();
    const unheld: string[] = [];
    models.subscribe(({ changes }) => {
      for (const { name } of changes) {
        const bytes = models.get(widgets.key, name)?.bytes;
        if (bytes !== undefined && Buffer.from(bytes).includes('"deletionTimestamp"')) unheld.push(name);
      }
    });
    // Pairs at odd places, so that the bound of a slice falls within one.
    const before = await appendPairs(log, 'past', 1);
    await turnsOf(clock, catchUp(log, models, { signal }));
    const following = follow(log, models, stop.signal);
    const position = await appendPairs(log, 'live', 2);
    t.equal(await settled(models.reached(position, { timeoutMs: 60_000 }), clock), 'reached');
    stop.abort();
    await Promise.all([
      following,
      log.append(streamName('object:widgets.example.com/last'), [pairOf('last')[1]], 'absent'),
    ]);
    t.ok(position > before);
    t.strictSame(unheld, []);
    t.ok(batches.every((changes) => changes <= projectionBatchEventsMax));
    if (costMs > 0)
      t.ok(
        batches.every((changes) => changes <= 2),
        'and no more than one append where time is up',
      );
  }
});

const metadata: EventMetadata = {
  actor: 'test',
  verb: 'delete',
  requestId: 'r',
  $correlationId: 'r',
  time: '2026-01-01T00:00:00.000Z',
  schema: eventSchema,
};

/** A mark and a removal, as one append has them. */
function pairOf(name: string): readonly [ProposedEvent, ProposedEvent] {
  const object = widget({
    metadata: { name, deletionTimestamp: '2026-01-01T00:00:00.000Z' },
    spec: { title: 'T', serial: 'x' },
  });
  return [
    encodeEvent(idOf(`${name} marked`), marked(object), metadata),
    encodeEvent(idOf(`${name} gone`), deleted(object), metadata),
  ];
}

async function appendPairs(log: EventLog, name: string, singles: number): Promise<LogPosition> {
  const appends: Promise<AppendOutcome>[] = [];
  for (let index = 0; index < 2 * projectionBatchEventsMax; index += 1) {
    const pair = pairOf(`${name}${String(index)}`);
    const single = encodeEvent(idOf(`${name} single`), created(widget({ metadata: { name } })), metadata);
    const stream = streamName(`object:widgets.example.com/${name}${String(index)}`);
    appends.push(log.append(stream, index < singles ? [single] : pair, 'absent'));
  }
  const outcomes = await Promise.all(appends);
  return appended(outcomes.at(-1)!).position;
}

test('one event that takes longer than a slice is folded by itself', async (t) => {
  const { log, clock, models, batches } = await given(t, { objects: 3, costMs: 2 * sliceMs });
  await turnsOf(clock, catchUp(log, models, { signal }));
  t.strictSame(batches, [1, 1, 1]);
});

test('events that arrive together are folded in one turn, or in slices if index functions are slow', async (t) => {
  for (const { costMs, most } of [
    { costMs: 0, most: projectionBatchEventsMax },
    { costMs: 1, most: sliceMs },
  ]) {
    const { log, clock, models, batches } = await given(t, { objects: projectionBatchEventsMax, costMs });
    const { longestMs } = await turnsOf(clock, followed(log, models, projectionBatchEventsMax));
    t.equal(Math.max(...batches), most);
    t.equal(sum(batches), projectionBatchEventsMax);
    t.ok(longestMs <= sliceMs, `${String(longestMs)} ms in one turn`);
  }
});

/** Follows a log until that many events are folded. */
async function followed(log: EventLog, models: ObjectModels, events: number): Promise<void> {
  const stop = new AbortController();
  models.subscribe(() => {
    if (models.folded() === events) stop.abort();
  });
  await follow(log, models, stop.signal);
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0);
}
