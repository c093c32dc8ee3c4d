/** Platforms that share an EventStoreDB: each has the log that its prefix names, and no part of another's. */
import { test, type Test } from 'tap';

import { systemClock } from '../../../src/base/clock.ts';
import { openEventStoreLog } from '../../../src/log/eventstore/eventstore-log.ts';
import { FoundedLog } from '../../../src/log/founded-log.ts';
import { logStart, streamName, streamRevision, type EventLog } from '../../../src/log/log.ts';
import { startEventStore, type EventStore } from '../../support/eventstore/eventstore.ts';
import { idOf } from '../../support/id-of.ts';
import { appended, collect, deliver, proposed } from '../../support/memory/log-events.ts';

/** One begins with another, and one's first stream would be another's if no dash ended them. */
const prefixes = ['a-', 'a-b-', 'a-object-', 'ledgerplane-'] as const;
const stream = streamName('object:widgets.example.com/w');

type Given = { readonly store: EventStore; readonly logs: readonly EventLog[]; readonly sent: string[] };

async function given(t: Test): Promise<Given> {
  const store = await startEventStore();
  const logs = prefixes.map((prefix) => openEventStoreLog({ url: store.url, prefix, clock: systemClock }));
  t.teardown(async () => {
    await Promise.all(logs.map(async (log) => log.close()));
    await store.stop();
  });
  const sent: string[] = [];
  return { store, logs, sent };
}

test('each log holds its own events, and nothing else', async (t) => {
  const { store, logs, sent } = await given(t);
  for (const log of logs) t.equal(await log.head(), logStart, 'empty, whatever the database holds');
  const live = logs.map((log) => deliver(log, { after: logStart }));
  const first = live.map(async ({ next }) => next());
  const positions = [];
  for (const [index, log] of logs.entries())
    positions.push(appended(await log.append(stream, [proposed(`first ${index.toString()}`)], 'absent')).position);
  for (const [index, log] of logs.entries()) {
    const id = idOf(`first ${index.toString()}`);
    t.equal(await log.head(), positions[index]);
    t.strictSame(
      (await collect(log.readAll({ after: logStart }))).map((event) => event.id),
      [id],
    );
    t.strictSame(
      (await collect(log.readAll({ after: logStart, categories: ['object'] }))).map((event) => event.id),
      [id],
    );
    t.strictSame(
      (await log.readStream(stream, { from: streamRevision(0), limit: 10 })).map((event) => event.id),
      [id],
    );
    t.equal((await log.readLast(stream))?.stream, stream);
    for (const [other, position] of positions.entries())
      t.equal((await log.readAt(position))?.id, other === index ? id : undefined);
    t.strictSame(
      (await first[index])?.map((event) => event.id),
      [id],
    );
  }
  await Promise.all(live.map(async ({ end }) => end()));
  store.faults.sent = (name) => {
    sent.push(name);
  };
  const [log] = logs;
  const subscription = deliver(log!, { after: logStart, categories: ['object'] });
  await subscription.next();
  await subscription.end();
  t.strictSame(sent, [`a-${stream}`], 'the server sends nothing of the others');
});

test('each log has its own founding', async (t) => {
  const { logs } = await given(t);
  const founded = await Promise.all(
    logs.map(async (log, index) =>
      new FoundedLog(log).found({
        domain: `platform-${index.toString()}.example`,
        now: Date.now(),
        uuid: () => idOf(`platform ${index.toString()}`),
      }),
    ),
  );
  t.strictSame(
    founded.map(({ logId }) => logId),
    prefixes.map((_, index) => idOf(`platform ${index.toString()}`)),
  );
});

test('a lease is truncated in its own log only', async (t) => {
  const {
    store,
    logs: [one, other],
  } = await given(t);
  const lease = streamName('lease:reconcilers');
  for (let index = 0; index < 20; index += 1)
    await one!.append(lease, [proposed(`one ${index.toString()}`)], index === 0 ? 'absent' : streamRevision(index - 1));
  await other!.append(
    lease,
    Array.from({ length: 20 }, (_, index) => proposed(`other ${index.toString()}`)),
    'absent',
  );
  while (store.log().readable('$$a-b-lease:reconcilers') === undefined) await other!.readLast(lease);
  t.strictSame(
    ['a-', 'a-b-', 'a-object-'].map((prefix) => store.log().readable(`$$${prefix}lease:reconcilers`) !== undefined),
    [true, true, false],
  );
  t.equal((await other!.readLast(lease))?.revision, 19);
});

test("the end of a log is found behind any number of another log's events, which are read once", async (t) => {
  const {
    store,
    logs: [one, other],
    sent,
  } = await given(t);
  const { position } = appended(await one!.append(stream, [proposed('one')], 'absent'));
  for (let index = 0; index < 40; index += 1)
    await other!.append(
      streamName(`object:${index.toString()}`),
      Array.from({ length: 50 }, (_, part) => proposed(`${index.toString()}/${part.toString()}`)),
      'absent',
    );
  store.faults.sent = (name) => {
    sent.push(name);
  };
  t.equal(await one!.head(), position);
  t.ok(sent.length >= 2_000, 'passed by');
  sent.length = 0;
  await other!.append(stream, [proposed('one more')], 'absent');
  t.equal(await one!.head(), position);
  t.ok(sent.length < 20, 'and not again');
});
