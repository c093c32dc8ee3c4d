/** A filtered subscription receives all events of its categories, and EventStoreDB sends nothing else. */
import { randomUUID } from 'node:crypto';

import { test, type Test } from 'tap';

import { systemClock } from '../../../src/base/clock.ts';
import { openEventStoreLog } from '../../../src/log/eventstore/eventstore-log.ts';
import { lastObject } from '../../../src/log/last-object.ts';
import {
  logPosition,
  logStart,
  streamName,
  UnknownPositionError,
  type EventLog,
  type LogPosition,
} from '../../../src/log/log.ts';
import { startEventStore, type EventStore } from '../../support/eventstore/eventstore.ts';
import { appended, collect, deliver, proposed } from '../../support/memory/log-events.ts';

type Given = { readonly store: EventStore; readonly log: EventLog; readonly sent: string[] };

async function given(t: Test): Promise<Given> {
  const store = await startEventStore();
  const log = openEventStoreLog({ url: store.url, clock: systemClock });
  t.teardown(async () => {
    await log.close();
    await store.stop();
  });
  const sent: string[] = [];
  return { store, log, sent };
}

/** Counts sent events, after the log's own reads of its end. */
async function counted<T>({ store, sent }: Given, work: () => Promise<T>): Promise<T> {
  sent.length = 0;
  store.faults.sent = (stream) => {
    sent.push(stream.replace('ledgerplane-', '').replace(/:.*/u, ''));
  };
  return work();
}

const add = async ({ log }: Given, category: string, count = 1): Promise<LogPosition> => {
  let last = logStart;
  for (let one = 0; one < count; one += 1) {
    last = appended(
      await log.append(streamName(`${category}:${randomUUID()}`), [proposed(randomUUID())], 'absent'),
    ).position;
  }
  return last;
};

const tally = (sent: readonly string[]) =>
  Object.fromEntries([...new Set(sent)].sort().map((one) => [one, sent.filter((other) => other === one).length]));

test('a subscription of some categories receives events of those and of no others', async (t) => {
  const all = await given(t);
  const { store, log, sent } = all;
  await add(all, 'object', 3);
  await counted(all, async () => {
    const subscription = deliver(log, { after: logStart, categories: ['object', 'secret'] });
    const streams = (await subscription.next()).map(({ stream }) => stream);
    // A category's name is not the beginning of another's.
    for (const category of ['claim', 'lease', 'objects', 'secret', 'package', 'object']) await add(all, category, 2);
    await store.foreignAppend({ stream: 'somebody-else' });
    await add(all, 'object');
    while (streams.length < 3 + 2 + 2 + 1) streams.push(...(await subscription.next()).map(({ stream }) => stream));
    await subscription.end();
    t.same(tally(streams.map((stream) => stream.replace(/:.*/u, ''))), { object: 6, secret: 2 });
    t.same(tally(sent), { object: 6, secret: 2 });
  });
});

test('a read of some categories ends, also if the log ends with events of others', async (t) => {
  const all = await given(t);
  const { log } = all;
  await add(all, 'object', 20);
  const claims = await add(all, 'claim', 2);
  for (const last of ['object', 'lease', 'claim']) {
    await add(all, last, 3);
    const head = await log.head();
    const read = async (options: Parameters<EventLog['readAll']>[0]) =>
      (await collect(log.readAll(options))).map(({ stream }) => stream.replace(/:.*/u, ''));
    t.same(tally(await read({ after: logStart, categories: ['claim'] })), { claim: last === 'claim' ? 5 : 2 });
    t.same(await read({ after: head, categories: ['claim'] }), [], 'from the end');
    t.same(await read({ after: claims, until: claims, categories: ['claim'] }), []);
    t.same(await read({ after: logStart, until: claims, categories: ['claim'] }), ['claim', 'claim']);
    t.same(await read({ after: logStart, categories: ['secret'] }), [], 'there are none');
  }
});

test('a read of claims receives no object events but the one that ends it', async (t) => {
  const all = await given(t);
  const { log, sent } = all;
  await add(all, 'object', 200);
  await add(all, 'claim', 2);
  await add(all, 'object', 200);
  await log.head();
  await counted(all, async () => collect(log.readAll({ after: logStart, categories: ['claim'] })));
  // The end of the log is looked for backwards, a few events at once.
  t.equal(tally(sent)['claim'], 2);
  t.ok((tally(sent)['object'] ?? 0) < 20, JSON.stringify(tally(sent)));
});

test('a backward read receives no events of other categories or platforms', async (t) => {
  const all = await given(t);
  const { store, log, sent } = all;
  await add(all, 'object', 20);
  const claims = await add(all, 'claim', 100);
  await store.foreignAppend({ stream: 'somebody-else' });
  const streams = async (options: Parameters<EventLog['readAllBackward']>[0]) =>
    (await collect(log.readAllBackward(options))).map(({ stream }) => stream.replace(/:.*/u, ''));
  await counted(all, async () => {
    t.same(tally(await streams({ categories: ['object'] })), { object: 20 });
    t.same(tally(sent), { object: 20 });
    t.same(tally(await streams({})), { claim: 100, object: 20 });
    t.same(tally(sent), { claim: 100, object: 40 });
    sent.length = 0;
    t.same(await streams({ categories: ['object'], after: claims }), []);
    t.ok(sent.length <= 8, `${String(sent.length)} events at or below the lower bound were sent`);
  });
});

test('the last object behind a position is found by one short read, however much is behind it', async (t) => {
  const all = await given(t);
  const { log, sent } = all;
  const before = await add(all, 'object', 300);
  await add(all, 'claim', 20);
  await counted(all, async () => {
    t.equal(await lastObject(log, logStart), before);
    t.ok(sent.length <= 8, `${String(sent.length)} events were sent`);
    t.equal(await lastObject(log, before), before, 'nothing is behind it');
    const last = await add(all, 'object', 2);
    t.equal(await lastObject(log, before), last);
  });
});

test('a backward read from a position that the log never issued is refused', async (t) => {
  const all = await given(t);
  const { log } = all;
  const [first, last] = [await add(all, 'object'), await add(all, 'object')];
  for (const before of [logPosition(first + 1n), logPosition(last + 1_000n)])
    await t.rejects(collect(log.readAllBackward({ before })), UnknownPositionError);
  t.same(
    (await collect(log.readAllBackward({ before: last }))).map(({ position }) => position),
    [first],
  );
});

test('subscribers of different categories share no memory, and each gets its own event instances', async (t) => {
  const all = await given(t);
  const { log } = all;
  const objects = deliver(log, { after: logStart, categories: ['object'] });
  const claims = deliver(log, { after: logStart, categories: ['claim'] });
  const next = [objects.next(), claims.next()];
  for (const [category, batch] of [
    ['object', next[0]],
    ['claim', next[1]],
  ] as const) {
    const event = proposed(`first ${category}`);
    await log.append(streamName(`${category}:x`), [event], 'absent');
    t.equal((await batch)?.[0]?.data, event.data, 'the very instance');
  }
  await objects.end();
  await claims.end();
});
