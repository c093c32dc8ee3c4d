/** What a real EventStoreDB was seen to do to its clients, done to the adapter: the real client, over a real socket. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { test } from 'tap';
import type { Test } from 'tap';

import { leaseEventsMax, logReceivedEventsMax } from '../../../src/log/eventstore/eventstore-limits.ts';
import { openEventStoreLog } from '../../../src/log/eventstore/eventstore-log.ts';
import {
  LogCorruptError,
  LogRefusedError,
  LogReplacedError,
  UnknownPositionError,
  logPosition,
  logStart,
  streamName,
  streamRevision,
} from '../../../src/log/log.ts';
import type {
  AppendOutcome,
  EventLog,
  ExpectedRevision,
  LogState,
  ProposedEvent,
  RecordedEvent,
  StreamName,
} from '../../../src/log/log.ts';
import { selfSignedCertificate } from '../../support/eventstore/certificate.ts';
import { startEventStore } from '../../support/eventstore/eventstore.ts';
import type { EventStore, EventStoreOptions } from '../../support/eventstore/eventstore.ts';
import { notLeader, unavailable } from '../../support/eventstore/faults.ts';
import type { AppendFault } from '../../support/eventstore/faults.ts';
import { idOf } from '../../support/id-of.ts';
import { appended, batchOf, collect, deliver, proposed } from '../../support/memory/log-events.ts';
import { quickClock } from '../../support/clocks/quick-clock.ts';

const stream = streamName('object:widgets.example.com/w1');

type Staged = {
  readonly store: EventStore;
  readonly log: EventLog;
  readonly states: LogState[];
  readonly resubscribed: () => number;
};

async function staged(t: Test, options: EventStoreOptions = {}): Promise<Staged> {
  const store = await startEventStore(options);
  const states: LogState[] = [];
  let resubscribed = 0;
  const log = openEventStoreLog({
    url: store.url,
    clock: quickClock(),
    onState: (state) => {
      states.push(state);
    },
    onResubscribed: () => {
      resubscribed += 1;
    },
  });
  t.teardown(async () => {
    await log.close();
    await store.stop();
  });
  return { store, log, states, resubscribed: () => resubscribed };
}

/** The fault befalls the next append, and no other. */
function befall(store: EventStore, fault: AppendFault): void {
  store.faults.append = () => {
    store.faults.append = undefined;
    return fault;
  };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

/** Repeats an append, ids and expected revision, until it is known what came of it. */
async function insist(
  log: EventLog,
  to: StreamName,
  events: readonly ProposedEvent[],
  expected: ExpectedRevision,
): Promise<AppendOutcome> {
  for (;;) {
    const outcome = await log.append(to, events, expected);
    if (outcome.ok || outcome.reason === 'conflict') return outcome;
    await nextTurn();
  }
}

async function ids(log: EventLog): Promise<string[]> {
  return (await collect(log.readAll({ after: logStart }))).map(({ id }) => id);
}

/** Takes a subscription until it has delivered so many events. */
async function take(next: () => Promise<readonly RecordedEvent[]>, count: number): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  while (events.length < count) {
    const batch = await next();
    if (batch.length === 0) throw new Error(`it ended after ${events.length.toString()} events`);
    events.push(...batch);
  }
  return events;
}

/** Every way to lose an answer, and the resulting content of the log. */
const lostAnswers: readonly AppendFault[] = [
  { kind: 'drop-before' },
  { kind: 'drop-after' },
  { kind: 'no-answer', written: true },
  { kind: 'no-answer', written: false },
  { kind: 'refuse', refusal: unavailable, written: true },
  { kind: 'refuse', refusal: unavailable },
  { kind: 'refuse', refusal: { code: 2, details: 'it failed' }, written: true },
  { kind: 'refuse', refusal: { code: 8, details: 'Received message larger than max' } },
  { kind: 'unready' },
];
for (const fault of lostAnswers) {
  test(`an append that meets ${JSON.stringify(fault)} is settled by its ids, and is there once`, async (t) => {
    const { store, log } = await staged(t);
    await insist(log, stream, [proposed('before')], 'absent');
    befall(store, fault);
    const batch = batchOf('a', 3);
    const outcome = await log.append(stream, batch, streamRevision(0));
    t.match(outcome, { ok: false, reason: 'unknown' });
    t.equal(appended(await insist(log, stream, batch, streamRevision(0))).revision, 3);
    t.same(await insist(log, stream, batch, streamRevision(0)), await log.append(stream, batch, streamRevision(0)));
    t.same(await ids(log), [idOf('before'), ...batch.map(({ id }) => id)]);
    t.same(log.state(), { reachable: true });
  });
}

test('a late reply is still delivered, and its event may be seen before it', async (t) => {
  const { store, log } = await staged(t);
  const subscription = deliver(log, { after: logStart });
  const first = subscription.next();
  befall(store, { kind: 'late-answer', ms: 100 });
  const event = proposed('a');
  const order: string[] = [];
  const answered = log.append(stream, [event], 'absent').then((outcome) => {
    order.push(appended(outcome).revision.toString());
  });
  const [seen] = await first;
  order.push('seen');
  await answered;
  t.same(order, ['seen', '0']);
  t.equal(seen?.data, event.data, 'it is the very instance');
  await subscription.end();
});

test('an event that is written after its append was abandoned is found by its ids', async (t) => {
  const { store, log } = await staged(t);
  await insist(log, stream, [proposed('before')], 'absent');
  befall(store, { kind: 'late-write', ms: 1_300 });
  t.match(await log.append(stream, [proposed('a')], streamRevision(0)), { ok: false, reason: 'unknown' });
  t.equal(appended(await insist(log, stream, [proposed('a')], streamRevision(0))).revision, 1);
  // The write that was late has come by now, and found its event.
  await store.foreignAppend({ stream: 'other' });
  t.same(await ids(log), [idOf('before'), idOf('a')]);
});

test('when all calls in flight are rejected no caller gets an error, and each event is stored once', async (t) => {
  const { store, log } = await staged(t);
  await insist(log, stream, [proposed('before')], 'absent');
  let asked = 0;
  const allAsked = new Promise<void>((resolve) => {
    store.faults.append = ({ number }) => {
      asked += 1;
      if (asked === 50) resolve();
      // Half of them are written.
      return { kind: 'no-answer', written: number % 2 === 0 };
    };
  });
  const writes = Array.from({ length: 50 }, (_, index) => ({
    to: streamName(`object:w/${index.toString()}`),
    event: proposed(index.toString()),
  }));
  const pending = Promise.all(writes.map(({ to, event }) => log.append(to, [event], 'absent')));
  await allAsked;
  store.faults.append = undefined;
  store.rejectInFlight(unavailable);
  t.ok((await pending).every((outcome) => !outcome.ok && outcome.reason === 'unknown'));
  const settled = await Promise.all(writes.map(({ to, event }) => insist(log, to, [event], 'absent')));
  t.ok(settled.every(({ ok }) => ok));
  t.same((await ids(log)).toSorted(), ['before', ...writes.map((_, index) => index.toString())].map(idOf).toSorted());
});

test('a too large event is refused before it is sent, and affects no other call', async (t) => {
  const { log } = await staged(t);
  await insist(log, stream, [proposed('before')], 'absent');
  const others = Array.from({ length: 20 }, (_, index) =>
    log.append(streamName(`object:w/${index.toString()}`), [proposed(index.toString())], 'absent'),
  );
  const large = { ...proposed('large'), data: Buffer.alloc(20_000_000) };
  await t.rejects(log.append(stream, [large], streamRevision(0)), RangeError);
  t.ok((await Promise.all(others)).every(({ ok }) => ok));
  t.equal(
    appended(await insist(log, stream, [{ ...large, data: Buffer.alloc(1_000_000) }], streamRevision(0))).revision,
    1,
  );
});

test('a conflict reported before the winner is durable remains a conflict, or is checked again', async (t) => {
  const { store, log } = await staged(t);
  store.faults.earlyConflicts = true;
  await insist(log, stream, [proposed('before')], 'absent');
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, index) => insist(log, stream, [proposed(index.toString())], streamRevision(0))),
  );
  t.equal(outcomes.filter(({ ok }) => ok).length, 1);
  t.equal((await ids(log)).length, 2);
});

test('a new leader receives the append, and its outcome is known', async (t) => {
  const { store, log } = await staged(t);
  await insist(log, stream, [proposed('before')], 'absent');
  befall(store, { kind: 'refuse', refusal: notLeader('127.0.0.1', store.port) });
  t.equal(appended(await insist(log, stream, [proposed('a')], streamRevision(0))).revision, 1);
});

test('through a kill and each state of not being ready no event is lost, repeated or out of order', async (t) => {
  const { store, log, states } = await staged(t);
  await insist(log, stream, batchOf('a', 3), 'absent');
  const subscription = deliver(log, { after: logStart });
  const before = await take(subscription.next, 3);
  await store.kill();
  t.match(await log.append(stream, [proposed('away')], streamRevision(2)), { ok: false });
  await t.rejects(log.readLast(stream), { name: 'LogUnavailableError' });
  t.match(log.state(), { reachable: false });
  await store.restart({ closedMs: 100, unavailableMs: 200, notReadyMs: 200 });
  t.equal(appended(await insist(log, stream, [proposed('away')], streamRevision(2))).revision, 3);
  await insist(log, stream, [proposed('back')], streamRevision(3));
  const after = await take(subscription.next, 2);
  t.same(
    [...before, ...after].map(({ id }) => id),
    ['a/0', 'a/1', 'a/2', 'away', 'back'].map(idOf),
  );
  t.same(
    states.slice(0, 2).map(({ reachable }) => reachable),
    [true, false],
  );
  t.ok(
    states.every(({ reachable }, index) => reachable === (index % 2 === 0)),
    'only changes are reported',
  );
  await subscription.end();
});

test('while the server is stopped appends are abandoned; their outcome is known once it resumes', async (t) => {
  const { store, log } = await staged(t);
  await insist(log, stream, [proposed('before')], 'absent');
  const subscription = deliver(log, { after: logStart });
  await take(subscription.next, 1);
  store.pause();
  t.match(await log.append(stream, [proposed('a')], streamRevision(0)), { ok: false, reason: 'unknown' });
  await t.rejects(log.readLast(stream), { name: 'LogUnavailableError' });
  t.match(log.state(), { reachable: false });
  t.match(
    await Promise.race([log.append(stream, [proposed('b')], streamRevision(1)), turns(5)]),
    { ok: false, reason: 'unavailable' },
    'at once, as it is known',
  );
  await t.rejects(Promise.race([log.readLast(stream), turns(5)]), { name: 'LogUnavailableError' });
  store.resume();
  t.equal(appended(await insist(log, stream, [proposed('a')], streamRevision(0))).revision, 1);
  t.same(
    (await take(subscription.next, 1)).map(({ id }) => id),
    [idOf('a')],
  );
  await subscription.end();
});

test('a consumer that was too slow resumes at its position', async (t) => {
  const { store, log, resubscribed } = await staged(t);
  const subscription = deliver(log, { after: logStart });
  const first = subscription.next();
  await insist(log, stream, [proposed('first')], 'absent');
  const received = [...(await first)];
  store.faults.liveLagMax = 10;
  // More than the driver and the connection hold for a reader that does not read.
  const count = logReceivedEventsMax + 200;
  const large = Buffer.alloc(20_000, 'x');
  for (let index = 0; index < count; index += 1) {
    await insist(
      log,
      streamName(`object:w/${index.toString()}`),
      [{ ...proposed(index.toString()), data: large }],
      'absent',
    );
  }
  received.push(...(await take(subscription.next, count)));
  t.same(
    received.map(({ id }) => id),
    ['first', ...Array.from({ length: count }, (_, index) => index.toString())].map(idOf),
  );
  t.ok(resubscribed() > 0, 'it was dropped');
  t.same(log.state(), { reachable: true }, 'which says nothing about the log');
  await subscription.end();
});

for (const refusal of [
  undefined,
  unavailable,
  { code: 2, details: 'it failed' },
  { code: 1, details: 'it was cancelled' },
]) {
  test(`a subscription that ends (${refusal?.details ?? 'complete'}) resumes, also within appends`, async (t) => {
    const { store, log } = await staged(t);
    for (let index = 0; index < 10; index += 1)
      await insist(log, streamName(`object:w/${index.toString()}`), batchOf(index.toString(), 3), 'absent');
    let cuts = 0;
    store.faults.read = ({ subscription }) => {
      if (!subscription || cuts > 10) return undefined;
      cuts += 1;
      return refusal === undefined
        ? { kind: 'cut', afterEvents: 3 + (cuts % 3) }
        : { kind: 'cut', afterEvents: 3 + (cuts % 3), refusal };
    };
    const expected = Array.from({ length: 10 }, (_, index) => batchOf(index.toString(), 3).map(({ id }) => id)).flat();
    t.same(await ids(log), expected, 'a read of the whole log');
    cuts = 0;
    const subscription = deliver(log, { after: logStart });
    t.same(
      (await take(subscription.next, 30)).map(({ id }) => id),
      expected,
      'a subscription',
    );
    t.ok(cuts > 2);
    await subscription.end();
  });
}

test('an event that comes twice is delivered once', async (t) => {
  const { store, log } = await staged(t);
  store.faults.read = ({ subscription }) => (subscription ? { kind: 'twice' } : undefined);
  const batch = batchOf('a', 3);
  await insist(log, stream, batch, 'absent');
  await insist(log, stream, [proposed('b')], streamRevision(2));
  t.same(await ids(log), [...batch.map(({ id }) => id), idOf('b')]);
});

test("any number of other logs' events are skipped", async (t) => {
  const { store, log } = await staged(t);
  const foreign = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1)
      await store.foreignAppend({ stream: `other-${index.toString()}`, json: { index } });
  };
  await foreign(100);
  t.equal(await log.head(), logStart);
  const { position } = appended(await insist(log, stream, [proposed('a')], 'absent'));
  await foreign(500);
  await store.foreignAppend({ stream: 'ledgerplane', json: {} });
  await store.foreignAppend({ stream: 'ledgerplane-Something', json: {} });
  await store.foreignAppend({ stream: '$ledgerplane-object:x/y', json: {} });
  await store.foreignAppend({ stream: 'object:widgets.example.com/w1', json: {} });
  t.equal(await log.head(), position);
  t.same(await ids(log), [idOf('a')]);
  t.equal((await log.readLast(stream))?.id, idOf('a'));
  t.equal(await log.readAt(logPosition(1n)), undefined, "an event of the server's is none of ours");
  const subscription = deliver(log, { after: position });
  const next = subscription.next();
  await foreign(10);
  await insist(log, stream, [proposed('b')], streamRevision(0));
  t.same(
    (await next).map(({ id }) => id),
    [idOf('b')],
  );
  await subscription.end();
});

test("a foreign event in one of the log's streams stops every reader", async (t) => {
  const { store, log } = await staged(t);
  await insist(log, stream, [proposed('a')], 'absent');
  await store.foreignAppend({ stream: `ledgerplane-${stream}`, json: { not: 'ours' } });
  await t.rejects(collect(log.readAll({ after: logStart })), LogCorruptError);
  await t.rejects(collect(log.subscribe({ after: logStart })), LogCorruptError);
  await t.rejects(log.readLast(stream), LogCorruptError);
});

test('a position that the log never assigned is unknown', async (t) => {
  const { log } = await staged(t);
  const { position } = appended(await insist(log, stream, [proposed('a')], 'absent'));
  await insist(log, stream, [proposed('b')], streamRevision(0));
  const odd = logPosition(position + 1n);
  await t.rejects(collect(log.readAll({ after: odd })), UnknownPositionError);
  await t.rejects(collect(log.subscribe({ after: odd })), UnknownPositionError);
  await t.rejects(collect(log.subscribe({ after: logPosition(position + 1_000_000n) })), UnknownPositionError);
  t.equal(await log.readAt(odd), undefined);
  t.equal((await log.readAt(position))?.id, idOf('a'));
});

test('a deleted stream is empty and keeps its numbering, one with a tombstone stops its readers', async (t) => {
  const { store, log } = await staged(t);
  const { position } = appended(await insist(log, stream, batchOf('a', 2), 'absent'));
  await store.log().delete(`ledgerplane-${stream}`, 'any', false);
  t.same(await log.readStream(stream, { from: streamRevision(0), limit: 10 }), []);
  t.equal(await log.readLast(stream), undefined);
  await store.log().delete(`ledgerplane-${stream}`, 'any', true);
  await t.rejects(log.readLast(stream), LogCorruptError);
  t.match(await log.append(stream, [proposed('b')], streamRevision(1)), { ok: false });
  // What the server wrote behind it is none of ours: the log goes on for everybody else.
  const other = streamName('object:widgets.example.com/other');
  t.equal(await log.head(), position);
  await insist(log, other, [proposed('c')], 'absent');
  t.equal((await ids(log)).at(-1), idOf('c'));
  const live = deliver(log, { after: logStart });
  t.equal((await take(live.next, 3)).at(-1)?.id, idOf('c'));
  await live.end();
  t.equal(log.state().reachable, true);
});

test('only the last events of a lease are kept, and a reader may have stopped at a removed one', async (t) => {
  const { store, log, resubscribed } = await staged(t);
  const lease = streamName('lease:reconcilers');
  const renew = async (index: number): Promise<void> => {
    appended(
      await insist(
        log,
        lease,
        [proposed(`lease/${index.toString()}`)],
        index === 0 ? 'absent' : streamRevision(index - 1),
      ),
    );
  };
  await insist(log, stream, [proposed('object')], 'absent');
  for (let index = 0; index < 30; index += 1) await renew(index);
  // That the others may go is said beside the appends.
  while ((await log.readStream(lease, { from: streamRevision(0), limit: 100 })).length > leaseEventsMax)
    await nextTurn();
  const subscription = deliver(log, { after: logStart });
  const seen = await take(subscription.next, 31);
  store.faults.stalled = true;
  for (let index = 30; index < 60; index += 1) await renew(index);
  await store.scavenge();
  const at = seen.at(-1)?.position ?? logStart;
  t.equal(await log.readAt(at), undefined, 'the last event it saw is gone');
  store.faults.stalled = false;
  store.endReaders(unavailable);
  const rest = await take(subscription.next, leaseEventsMax);
  t.same(
    rest.map(({ id }) => id),
    Array.from({ length: leaseEventsMax }, (_, index) => idOf(`lease/${(60 - leaseEventsMax + index).toString()}`)),
  );
  t.equal(resubscribed(), 1);
  const again = deliver(log, { after: at });
  t.same((await take(again.next, leaseEventsMax)).length, leaseEventsMax, 'begun at an event that is gone');
  t.equal((await log.readLast(lease))?.id, idOf('lease/59'));
  await again.end();
  await subscription.end();
});

test('a log replaced during an outage stops its followers', async (t) => {
  const { store, log } = await staged(t);
  await insist(log, stream, batchOf('a', 5), 'absent');
  const following = deliver(log, { after: logStart });
  await take(following.next, 5);
  const waiting = following.next();
  await store.reset();
  await t.rejects(waiting, LogReplacedError, 'it is shorter now');
});

test('a log replaced by another one of the same length stops its followers', async (t) => {
  const { store, log } = await staged(t);
  await insist(log, stream, batchOf('a', 5), 'absent');
  const following = deliver(log, { after: logStart });
  await take(following.next, 5);
  const waiting = following.next();
  // Nobody follows it again before the other log is as long.
  store.faults.read = () => ({ kind: 'refuse', refusal: unavailable });
  await store.reset();
  for (let index = 0; index < 20; index += 1) await store.foreignAppend({ stream: 'other', data: Buffer.alloc(100) });
  store.faults.read = undefined;
  await t.rejects(waiting, LogReplacedError);
});

async function caFile(t: Test, certificate: string): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'ledgerplane-tls-'));
  t.teardown(() => rm(dir, { recursive: true }));
  const path = join(dir, 'ca.pem');
  await writeFile(path, certificate);
  return path;
}

/** How it refuses whatever it is asked, in words that repeat no password. */
async function assertRefused(t: Test, url: string, reason: RegExp): Promise<void> {
  const log = openEventStoreLog({ url, clock: quickClock() });
  t.teardown(() => log.close());
  const asked: readonly (() => Promise<unknown>)[] = [
    () => log.readLast(stream),
    () => log.head(),
    () => collect(log.subscribe({ after: logStart })),
    () => collect(log.readAll({ after: logStart })),
    () => log.append(stream, [proposed('a')], 'absent'),
  ];
  for (const ask of asked) {
    const error = await ask().then(
      (answer) => t.fail('it was let in', { answer }),
      (refused: unknown) => refused,
    );
    t.ok(error instanceof LogRefusedError);
    t.match((error as Error).message, reason);
    t.notMatch((error as Error).message, /secret/u);
  }
}

test('over TLS and with the right password the log works as without', async (t) => {
  const tls = selfSignedCertificate();
  const store = await startEventStore({ tls, credentials: 'admin:secret' });
  const log = openEventStoreLog({
    url: `${store.url}&tlsCAFile=${await caFile(t, tls.certificate)}`,
    clock: quickClock(),
  });
  t.teardown(async () => {
    await log.close();
    await store.stop();
  });
  await insist(log, stream, batchOf('a', 3), 'absent');
  t.same(
    await ids(log),
    batchOf('a', 3).map(({ id }) => id),
  );
  const subscription = deliver(log, { after: logStart });
  t.equal((await take(subscription.next, 3)).length, 3);
  await subscription.end();
});

test('a wrong password is refused', async (t) => {
  const tls = selfSignedCertificate();
  const store = await startEventStore({ tls, credentials: 'admin:right' });
  t.teardown(() => store.stop());
  await assertRefused(
    t,
    `${store.url.replace('right', 'secret')}&tlsCAFile=${await caFile(t, tls.certificate)}`,
    /credentials|access/u,
  );
});

test('a missing password is refused', async (t) => {
  const tls = selfSignedCertificate();
  const store = await startEventStore({ tls, credentials: 'admin:secret' });
  t.teardown(() => store.stop());
  await assertRefused(
    t,
    `${store.url.replace('admin:secret@', '')}&tlsCAFile=${await caFile(t, tls.certificate)}`,
    /credentials|access/u,
  );
});

test('a certificate of an unknown authority is refused', async (t) => {
  const store = await startEventStore({ tls: selfSignedCertificate() });
  t.teardown(() => store.stop());
  await assertRefused(
    t,
    `${store.url}&tlsCAFile=${await caFile(t, selfSignedCertificate().certificate)}`,
    /certificate|encrypted/u,
  );
});

test('TLS against a server without it is refused', async (t) => {
  const store = await startEventStore();
  t.teardown(() => store.stop());
  await assertRefused(
    t,
    store.url.replace('tls=false', 'tls=true').replace('esdb://', 'esdb://admin:secret@'),
    /encrypted|SSL/u,
  );
});

test('a plain connection to a server that requires TLS is refused', async (t) => {
  const store = await startEventStore({ tls: selfSignedCertificate() });
  t.teardown(() => store.stop());
  await assertRefused(t, store.url.replace('tls=true', 'tls=false').replace('esdb://', 'esdb://admin:secret@'), /TLS/u);
});

test('an unavailable server is retried, and is no refusal', async (t) => {
  const { store, log } = await staged(t);
  await store.kill();
  await t.rejects(log.readLast(stream), { name: 'LogUnavailableError' });
  t.match(await log.append(stream, [proposed('a')], 'absent'), { ok: false, reason: 'unavailable' });
  const subscription = deliver(log, { after: logStart });
  const next = subscription.next();
  await store.restart();
  await insist(log, stream, [proposed('a')], 'absent');
  t.same(
    (await next).map(({ id }) => id),
    [idOf('a')],
  );
  await subscription.end();
});
