/** Folding while index functions are slow: how long a turn is, and what is visible after each. Time is a fake clock's, passed by the index functions themselves. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type Test } from 'tap';

import { LmdbTables } from '../../projections/lmdb-tables.ts';
import { ObjectModels } from '../../projections/object-models.ts';
import { catchUp, follow } from '../../projections/runner.ts';
import { sliceMs } from '../../src/base/slices.ts';
import { projectionBatchEventsMax } from '../../src/limits/log.ts';
import type { EventLog } from '../../src/log/log.ts';
import { create, widgetType } from '../support/given.ts';
import { turnsOf } from '../support/turns.ts';
import { Writing } from '../support/writing.ts';

const signal = new AbortController().signal;

/** A log of objects, and other read models of it that know the type by an index function that takes `costMs` for each. */
async function given(t: Test, { objects, costMs }: { readonly objects: number; readonly costMs: number }) {
  const writing = await Writing.open(t, { type: widgetType({ indexes: [{ name: 'spec.title' }] }) });
  const { log, clock } = writing;
  await writing.race(Array.from({ length: objects }, (_, place) => create({ metadata: { name: `w${String(place)}` }, spec: { title: 'T' } })));
  const indexFunc = (): string => {
    clock.advance(costMs);
    return 'x';
  };
  const type = widgetType({ indexes: [{ name: 'spec.serial', indexFunc }] });
  const dir = await mkdtemp(join(tmpdir(), 'ledgerplane-runner-'));
  const tables = new LmdbTables(dir);
  const identity = { logId: 'the only one', epoch: 0 };
  const models = new ObjectModels({ tables, identity: () => identity, types: (key) => (key === type.key ? type : undefined), clock });
  t.teardown(async () => {
    await tables.close();
    await rm(dir, { recursive: true, force: true });
  });
  const batches: number[] = [];
  models.subscribe(({ changes, position }) => {
    batches.push(changes.length);
    t.equal(models.position(), position);
    t.match(models.checkpoint(), { position, events: models.folded() });
    t.equal(models.namesOf(type.key, { after: undefined, limit: objects }).length, models.folded(), 'rows of what is folded, and of no more');
  });
  return { log, clock, models, batches };
}

test('a catch-up with a slow index function gives way by time', async (t) => {
  const objects = 2 * projectionBatchEventsMax + 1;
  const { log, clock, models, batches } = await given(t, { objects, costMs: 1 });
  const { longestMs } = await turnsOf(clock, catchUp(log, models, { signal }));
  t.ok(longestMs <= sliceMs, `${String(longestMs)} ms in one turn`);
  t.equal(models.folded(), objects);
  t.equal(sum(batches), objects, 'each change once');
});

test('one event that takes longer than a slice is folded by itself', async (t) => {
  const { log, clock, models, batches } = await given(t, { objects: 3, costMs: 2 * sliceMs });
  await turnsOf(clock, catchUp(log, models, { signal }));
  t.strictSame(batches, [1, 1, 1]);
});

test('what comes at once is folded in one turn while index functions are quick, and gives way by time while they are not', async (t) => {
  for (const { costMs, most } of [{ costMs: 0, most: projectionBatchEventsMax }, { costMs: 1, most: sliceMs }]) {
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
  models.subscribe(() => { if (models.folded() === events) stop.abort(); });
  await follow(log, models, stop.signal);
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0);
}
