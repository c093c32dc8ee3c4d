/** What a scavenge takes from under a reader: a subscription from there would lack the event that comes next. */
import { setImmediate as nextTurn } from 'node:timers/promises';

import { test, type Test } from 'tap';

import { systemClock } from '../../../src/base/clock.ts';
import { leaseEventsMax } from '../../../src/log/eventstore/eventstore-limits.ts';
import { openEventStoreLog } from '../../../src/log/eventstore/eventstore-log.ts';
import { logStart, streamName, streamRevision, type EventLog, type LogPosition } from '../../../src/log/log.ts';
import { startEventStore, type EventStore } from '../../support/eventstore/eventstore.ts';
import { notLeader, unavailable } from '../../support/eventstore/faults.ts';
import { appended, collect, deliver, proposed, type Delivery } from '../../support/memory/log-events.ts';

const lease = streamName('lease:reconcilers');

type Given = {
  readonly store: EventStore;
  readonly log: EventLog;
  readonly add: (name: string) => Promise<LogPosition>;
  /** Writes the lease until none of its old events is kept. */
  readonly renewAll: () => Promise<LogPosition>;
  readonly renew: () => Promise<LogPosition>;
};

async function given(t: Test): Promise<Given> {
  const store = await startEventStore();
  const open = (): EventLog => openEventStoreLog({ url: store.url, clock: systemClock });
  // Another node writes: only this node's connection is cut.
  const [log, other] = [open(), open()];
  t.teardown(async () => {
    await Promise.all([log.close(), other.close()]);
    await store.stop();
  });
  let revision = -1;
  const renew = async (): Promise<LogPosition> => {
    const expected = revision < 0 ? 'absent' : streamRevision(revision);
    revision += 1;
    return appended(await other.append(lease, [proposed(`lease ${revision.toString()}`)], expected)).position;
  };
  const renewAll = async (): Promise<LogPosition> => {
    let last = logStart;
    for (let one = 0; one < leaseEventsMax; one += 1) last = await renew();
    // That the others may go is said beside the appends.
    while ((await other.readStream(lease, { from: streamRevision(0), limit: 1_000 })).length > leaseEventsMax)
      await nextTurn();
    return last;
  };
  const add = async (name: string): Promise<LogPosition> =>
    appended(await other.append(streamName(`object:${name}`), [proposed(name)], 'absent')).position;
  return { store, log, add, renew, renewAll };
}

/** The next `count` streams' names. */
async function takeEvents({ next }: Delivery, count: number): Promise<string[]> {
  const streams: string[] = [];
  while (streams.length < count) streams.push(...(await next()).map(({ stream }) => stream));
  return streams;
}

test('backward reads leave out deleted events, and begin at a position that a scavenge emptied', async (t) => {
  const { store, log, add, renew, renewAll } = await given(t);
  await add('a');
  const gone = await renew();
  await add('b');
  await renewAll();
  await renewAll();
  const kept = await log.readStreamBackward(lease, { limit: 1_000 });
  t.equal(kept.length, leaseEventsMax);
  t.equal(kept[0]?.id, (await log.readLast(lease))?.id);
  const oldest = kept.at(-1)?.revision ?? 0;
  t.same(await log.readStreamBackward(lease, { from: streamRevision(oldest - 1), limit: 10 }), []);
  await store.scavenge();
  t.same(await log.readStreamBackward(lease, { limit: 1_000 }), kept);
  const streams = (await collect(log.readAllBackward({ before: gone }))).map(({ stream }) => stream);
  t.same(streams, ['object:a']);
  t.same(
    (await collect(log.readAllBackward({ after: gone, categories: ['object'] }))).map(({ stream }) => stream),
    ['object:b'],
  );
});

test('a subscription and a read from a scavenged position have no gap', async (t) => {
  const { store, log, add, renew, renewAll } = await given(t);
  const first = await renew();
  await add('a');
  const second = await renew();
  const third = await renew();
  await add('b');
  await store.foreignAppend({ stream: 'somebody-else' });
  await renewAll();
  await add('c');
  await renewAll();
  await store.scavenge();
  for (const [after, names] of [
    [first, ['a', 'b', 'c']],
    [second, ['b', 'c']],
    [third, ['b', 'c']],
  ] as const) {
    t.equal(await log.readAt(after), undefined, 'it is gone');
    const streams = names.map((name) => `object:${name}`);
    for (const categories of [['object'], undefined] as const) {
      const objects = (all: readonly string[]): string[] => all.filter((stream) => stream !== lease);
      const read = await collect(log.readAll({ after, categories }));
      t.same(objects(read.map(({ stream }) => stream)), streams, 'read');
      const subscription = deliver(log, { after, categories });
      t.same(
        objects(
          await takeEvents(subscription, categories === undefined ? streams.length + leaseEventsMax : streams.length),
        ),
        streams,
        'subscribed',
      );
      await subscription.end();
    }
  }
});

test('a disconnected subscriber whose last event was scavenged has no gap', async (t) => {
  const { store, log, add, renew, renewAll } = await given(t);
  await add('before');
  await renew();
  const subscription = deliver(log, { after: logStart });
  t.same(await takeEvents(subscription, 2), ['object:before', lease]);
  store.faults.stalled = true;
  await add('a');
  await renewAll();
  await add('b');
  await store.scavenge();
  store.faults.stalled = false;
  store.endReaders(unavailable);
  t.same(
    (await takeEvents(subscription, 2 + leaseEventsMax)).filter((stream) => stream !== lease),
    ['object:a', 'object:b'],
  );
  await subscription.end();
});

test('a scavenge between the search for a start and the subscription causes no gap', async (t) => {
  const { store, log, add, renew, renewAll } = await given(t);
  const after = await renew();
  await add('a');
  await renewAll();
  let subscriptions = 0;
  // The position still stands when it is looked for. Nothing comes behind `a`, so nothing but the answer itself can say
  // so.
  store.faults.read = ({ subscription }) => {
    if (!subscription) return undefined;
    subscriptions += 1;
    if (subscriptions === 1) void store.scavenge();
    return undefined;
  };
  const subscription = deliver(log, { after, categories: ['object'] });
  t.same(await takeEvents(subscription, 1), ['object:a']);
  t.equal(subscriptions, 2);
  await subscription.end();
});

test("only the subscription's own server can confirm that its start exists", async (t) => {
  const { store, log, add, renew, renewAll } = await given(t);
  await renewAll();
  const after = await renew();
  await add('a');
  let [subscriptions, reads] = [0, 0];
  // Another server leads from the moment the subscription stands: what that one says is said of itself.
  store.faults.read = ({ subscription, backwards }) => {
    if (subscription) {
      subscriptions += 1;
    } else if (subscriptions === 1 && !backwards) {
      reads += 1;
      if (reads === 1) return { kind: 'refuse', refusal: notLeader('127.0.0.1', store.port) };
    }
    return undefined;
  };
  const subscription = deliver(log, { after, categories: ['object'] });
  t.same(await takeEvents(subscription, 1), ['object:a']);
  t.equal(subscriptions, 2);
  await subscription.end();
});

test("a subscriber that begins at a lease's event continues after that event is scavenged", async (t) => {
  const { store, log, add, renew, renewAll } = await given(t);
  const after = await renew();
  const subscription = deliver(log, { after });
  await add('a');
  t.same(await takeEvents(subscription, 1), ['object:a']);
  const idle = await renew();
  const asked = { begun: false };
  store.faults.read = ({ subscription: isOne }) => {
    asked.begun ||= isOne;
    return undefined;
  };
  const another = deliver(log, { after: idle });
  const first = another.next();
  while (!asked.begun) await nextTurn();
  store.faults.stalled = true;
  await add('b');
  await renewAll();
  await store.scavenge();
  store.faults.stalled = false;
  store.endReaders(unavailable);
  t.same(
    (await takeEvents(subscription, 1 + leaseEventsMax)).filter((stream) => stream !== lease),
    ['object:b'],
  );
  t.equal((await first)[0]?.stream, 'object:b');
  await another.end();
  await subscription.end();
});
