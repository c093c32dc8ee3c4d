import { setImmediate as nextTurn } from 'node:timers/promises';

import { logReadAheadEventsMax } from '../../src/limits/log.ts';
import { logStart, streamName, streamRevision } from '../../src/log/log.ts';
import { idOf } from '../support/id-of.ts';
import { appended, batchOf, collect, collectTo, deliver, plain, proposed } from '../support/memory/log-events.ts';
import type { Clauses } from './log-contract.ts';

const stream = streamName('object:widgets.example.com/w1');

/** What a subscription promises, and closing. */
export const subscribeClauses: Clauses = {
  'a subscriber that keeps up gets the very bytes that were appended': async (t, makeLog) => {
    const { log } = await makeLog(t);
    const subscription = deliver(log, { after: logStart });
    const next = subscription.next();
    const event = proposed('a');
    await log.append(stream, [event], 'absent');
    const [delivered] = await next;
    t.equal(delivered?.data, event.data, 'the same instance');
    t.equal(delivered?.metadata, event.metadata);
    await subscription.end();
  },

  'batches are whole appends within the read-ahead, unless one append is larger': async (t, makeLog) => {
    const { log } = await makeLog(t);
    const sizes = [300, logReadAheadEventsMax - 300, 1, logReadAheadEventsMax, 1, logReadAheadEventsMax + 1, 200];
    const ends = await Promise.all(
      sizes.map(
        async (size, index) =>
          appended(
            await log.append(streamName(`object:w/${index.toString()}`), batchOf(index.toString(), size), 'absent'),
          ).position,
      ),
    );
    const last = ends.at(-1) ?? logStart;
    const seen: number[] = [];
    for await (const batch of log.subscribe({ after: logStart })) {
      seen.push(batch.length);
      t.ok(ends.includes(batch.at(-1)?.position ?? logStart), 'a batch ends where an append ends');
      t.ok(batch.length <= logReadAheadEventsMax || new Set(batch.map(({ stream }) => stream)).size === 1);
      if (batch.at(-1)?.position === last) break;
    }
    t.equal(
      seen.reduce((sum, size) => sum + size, 0),
      sizes.reduce((sum, size) => sum + size, 0),
    );
  },

  'a subscription from within an append begins right after it': async (t, makeLog) => {
    const { log } = await makeLog(t);
    const { position } = appended(await log.append(stream, batchOf('a', 3), 'absent'));
    const [, before] = await log.readStream(stream, { from: streamRevision(0), limit: 3 });
    t.same(
      (await collectTo(log, { after: before?.position ?? logStart }, position)).map(({ id }) => id),
      [idOf('a/2')],
    );
  },

  'a subscription ends when its signal aborts, whether it waits, reads or has not begun': async (t, makeLog) => {
    const { log } = await makeLog(t);
    await log.append(stream, batchOf('a', 3), 'absent');
    t.same(await collect(log.subscribe({ after: logStart, signal: AbortSignal.abort() })), []);
    const waiting = new AbortController();
    const waited = collect(log.subscribe({ after: await log.head(), signal: waiting.signal }));
    await nextTurn();
    waiting.abort();
    t.same(await waited, []);
    const reading = new AbortController();
    for await (const batch of log.subscribe({ after: logStart, signal: reading.signal })) {
      t.equal(batch.length, 3);
      reading.abort();
    }
    t.same(await collect(log.readAll({ after: logStart, signal: AbortSignal.abort() })), []);
  },

  'closing answers calls in flight, ends subscribers and refuses the rest': async (t, makeLog) => {
    const { log, reopen } = await makeLog(t);
    const subscribed = collect(log.subscribe({ after: logStart }));
    await nextTurn();
    const inFlight = Array.from({ length: 100 }, (_, index) =>
      log.append(streamName(`object:w/${index.toString()}`), [proposed(index.toString())], 'absent'),
    );
    const closed = log.close();
    t.match(await log.append(stream, [proposed('late')], 'absent'), { ok: false, reason: 'unavailable' });
    const outcomes = await Promise.all(inFlight);
    t.ok(outcomes.every(({ ok }) => ok));
    await closed;
    await log.close();
    const delivered = await subscribed;
    await t.rejects(log.head());
    await t.rejects(log.readLast(stream));
    const all = (await collect((await reopen()).readAll({ after: logStart }))).map(plain);
    t.equal(all.length, 100);
    t.same(delivered.map(plain), all.slice(0, delivered.length), 'a prefix was delivered');
  },

  'closing ends a subscriber that waits for nothing in particular': async (t, makeLog) => {
    const { log } = await makeLog(t);
    const subscribed = collect(log.subscribe({ after: logStart }));
    await nextTurn();
    await log.close();
    t.same(await subscribed, []);
  },

  'a read that closing cuts short throws, as it must not look complete': async (t, makeLog) => {
    const { log } = await makeLog(t);
    await Promise.all(
      Array.from({ length: 1_000 }, (_, index) =>
        log.append(streamName(`object:w/${index.toString()}`), [proposed(index.toString())], 'absent'),
      ),
    );
    await t.rejects(async () => {
      for await (const batch of log.readAll({ after: logStart })) {
        t.ok(batch.length < 1_000);
        await log.close();
      }
    });
  },
};
