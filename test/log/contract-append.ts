import { logStart, streamName, streamRevision } from '../../src/log/log.ts';
import type { RecordedEvent } from '../../src/log/log.ts';
import { appended, batchOf, collect, collectTo, deliver, plain, proposed } from '../support/memory/log-events.ts';
import type { Clauses } from './log-contract.ts';

const stream = streamName('object:widgets.example.com/w1');

/** What an append promises. */
export const appendClauses: Clauses = {
  'a stream starts at revision 0 and grows without holes': async (t, makeLog) => {
    const { log } = await makeLog(t);
    t.equal(appended(await log.append(stream, [proposed('a')], 'absent')).revision, 0);
    t.equal(appended(await log.append(stream, batchOf('b', 3), streamRevision(0))).revision, 3);
    t.same(
      (await log.readStream(stream, { from: streamRevision(0), limit: 10 })).map(({ revision }) => revision),
      [0, 1, 2, 3],
    );
  },

  'a stale, an early and a missing expectation are answered with the actual revision': async (t, makeLog) => {
    const { log } = await makeLog(t);
    t.match(await log.append(stream, [proposed('ahead of nothing')], streamRevision(0)), {
      ok: false,
      reason: 'conflict',
      actual: 'absent',
    });
    await log.append(stream, batchOf('a', 3), 'absent');
    for (const expected of [
      'absent',
      streamRevision(0),
      streamRevision(1),
      streamRevision(3),
      streamRevision(900),
    ] as const) {
      t.match(await log.append(stream, [proposed(`at ${expected.toString()}`)], expected), {
        ok: false,
        reason: 'conflict',
        actual: 2,
      });
    }
    t.equal((await collect(log.readAll({ after: logStart }))).length, 3, 'nothing was appended by a conflict');
  },

  'appended events are read back byte for byte': async (t, makeLog) => {
    const { log } = await makeLog(t);
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    const name = streamName('object:widgets.example.com/größe');
    const large = { ...proposed('y'), data: new Uint8Array(), metadata: Buffer.alloc(200_000, 'm') };
    const events = [{ ...proposed('x'), type: 'Ärger', data: bytes }, large];
    const { position } = appended(await log.append(name, events, 'absent'));
    const read = await log.readStream(name, { from: streamRevision(0), limit: 10 });
    const positions = read.map((event) => event.position);
    t.equal(positions[1], position);
    t.ok((positions[0] ?? position) < position);
    t.same(
      read.map(plain),
      events.map((event, revision) => {
        const place = { stream: name, revision: streamRevision(revision), position: positions[revision] ?? logStart };
        return plain({ ...event, ...place, endsAppend: revision === 1 });
      }),
    );
    t.ok(Buffer.from(read[0]?.data ?? []).equals(bytes));
    t.equal(read[1]?.data.length, 0);
  },

  'each event says whether it ends its append, however it is read': async (t, makeLog) => {
    const { log, reopen } = await makeLog(t);
    const ends = (events: readonly RecordedEvent[]): readonly boolean[] => events.map(({ endsAppend }) => endsAppend);
    const subscription = deliver(log, { after: logStart });
    const live = subscription.next();
    appended(await log.append(stream, batchOf('two', 2), 'absent'));
    t.same(ends(await live), [false, true]);
    await subscription.end();
    const one = appended(await log.append(stream, [proposed('one')], streamRevision(1)));
    for (const open of [() => Promise.resolve(log), reopen]) {
      const opened = await open();
      t.same(ends(await opened.readStream(stream, { from: streamRevision(0), limit: 10 })), [false, true, true]);
      t.same(ends(await collect(opened.readAll({ after: logStart }))), [false, true, true]);
      t.same(ends(await collectTo(opened, { after: logStart }, one.position)), [false, true, true]);
      t.equal((await opened.readLast(stream))?.endsAppend, true);
      const [first] = await opened.readStream(stream, { from: streamRevision(0), limit: 1 });
      t.equal((await opened.readAt(first?.position ?? logStart))?.endsAppend, false);
    }
  },

  'of an append of two all is there or nothing, and the answer is the position of the last': async (t, makeLog) => {
    const { log } = await makeLog(t);
    appended(await log.append(stream, [proposed('first')], 'absent'));
    const rivals = ['a', 'b', 'c'].map((text) => batchOf(text, 2));
    const outcomes = await Promise.all(rivals.map((events) => log.append(stream, events, streamRevision(0))));
    const [winner] = outcomes.filter(({ ok }) => ok);
    const { revision, position } = appended(winner!);
    t.equal(revision, 2);
    const read = await log.readStream(stream, { from: streamRevision(0), limit: 10 });
    t.equal(read.length, 3);
    t.equal(read.at(-1)?.position, position);
    const winning = rivals[outcomes.findIndex(({ ok }) => ok)] ?? [];
    t.same(
      read.slice(1).map(({ id }) => id),
      winning.map(({ id }) => id),
      'both of one, and nothing of another',
    );
    for (const [text, expected] of [
      ['late', 0],
      ['later', 1],
    ] as const) {
      const lost = await log.append(stream, batchOf(text, 2), streamRevision(expected));
      t.match(lost, { ok: false, reason: 'conflict', actual: 2 });
    }
    t.same(await log.append(stream, winning, streamRevision(0)), winner, 'sent again, it stands');
  },

  'an empty batch is rejected': async (t, makeLog) => {
    const { log } = await makeLog(t);
    await t.rejects(log.append(stream, [], 'absent'), RangeError);
  },

  'a retry with the same ids answers the first success and appends nothing': async (t, makeLog) => {
    const { log, reopen } = await makeLog(t);
    const batch = batchOf('a', 3);
    const first = await log.append(stream, batch, 'absent');
    t.same(await log.append(stream, batch, 'absent'), first);
    await log.append(stream, [proposed('later')], streamRevision(2));
    t.same(await log.append(stream, batch, 'absent'), first, 'also when the stream has gone on');
    t.same(await (await reopen()).append(stream, batch, 'absent'), first, 'also after a restart');
  },

  'a retry while the first attempt is in flight is answered with it': async (t, makeLog) => {
    const { log } = await makeLog(t);
    const [first, second] = await Promise.all([
      log.append(stream, [proposed('a')], 'absent'),
      log.append(stream, [proposed('a')], 'absent'),
    ]);
    t.ok(first.ok);
    t.same(second, first);
    t.equal((await collect(log.readAll({ after: logStart }))).length, 1);
  },

  'a batch that repeats only some of the standing ids is a conflict': async (t, makeLog) => {
    const { log } = await makeLog(t);
    await log.append(stream, batchOf('a', 2), 'absent');
    t.match(await log.append(stream, [...batchOf('a', 2), proposed('more')], 'absent'), {
      ok: false,
      reason: 'conflict',
      actual: 1,
    });
    t.match(await log.append(stream, [proposed('a/0'), proposed('changed')], 'absent'), {
      ok: false,
      reason: 'conflict',
      actual: 1,
    });
  },

  'of many concurrent appends at one revision exactly one wins, round after round': async (t, makeLog) => {
    const { log } = await makeLog(t);
    for (let round = 0; round < 20; round += 1) {
      const expected = round === 0 ? 'absent' : streamRevision(round - 1);
      const outcomes = await Promise.all(
        Array.from({ length: 16 }, (_, writer) =>
          log.append(stream, [proposed(`${round.toString()}/${writer.toString()}`)], expected),
        ),
      );
      t.equal(outcomes.filter(({ ok }) => ok).length, 1);
      t.equal(
        outcomes.filter((outcome) => !outcome.ok && outcome.reason === 'conflict' && outcome.actual === round).length,
        15,
      );
    }
  },

  'a pipeline of appends to one stream need not wait for the answers': async (t, makeLog) => {
    const { log } = await makeLog(t);
    const outcomes = await Promise.all(
      Array.from({ length: 300 }, (_, index) =>
        log.append(stream, [proposed(index.toString())], index === 0 ? 'absent' : streamRevision(index - 1)),
      ),
    );
    t.same(
      outcomes.map((outcome) => appended(outcome).revision),
      outcomes.map((_, index) => index),
    );
  },

  'a conflict is not answered before the append it lost to is durable': async (t, makeLog) => {
    const { log } = await makeLog(t);
    const order: string[] = [];
    const winner = log.append(stream, [proposed('a')], 'absent').then(() => order.push('won'));
    const loser = log.append(stream, [proposed('b')], 'absent').then(() => order.push('lost'));
    await Promise.all([winner, loser]);
    t.same(order, ['won', 'lost']);
  },
};
