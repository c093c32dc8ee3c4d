import { setImmediate as nextTurn } from 'node:timers/promises';

import { logPosition, logStart, streamName, streamRevision } from '../../src/log/log.ts';
import type { EventLog, RecordedEvent } from '../../src/log/log.ts';
import { idOf } from '../support/id-of.ts';
import { appended, batchOf, collect, collectTo, plain, proposed } from '../support/memory/log-events.ts';
import type { Clauses } from './log-contract.ts';

const stream = streamName('object:widgets.example.com/w1');
const other = streamName('object:widgets.example.com/w2');
const claim = streamName('claim:widgets.example.com/serial/00ff');

/** What reading promises. */
export const readClauses: Clauses = {
  'an empty log has no head, no events and no streams': async (t, makeLog) => {
    const { log } = await makeLog(t);
    t.equal(await log.head(), logStart);
    t.same(await collect(log.readAll({ after: logStart })), []);
    t.equal(await log.readLast(stream), undefined);
    t.same(await log.readStream(stream, { from: streamRevision(0), limit: 10 }), []);
    t.equal(await log.readAt(logPosition(1n)), undefined);
  },

  'a stream is read from a revision, up to a limit, and never into its neighbour': async (t, makeLog) => {
    const { log } = await makeLog(t);
    await log.append(stream, batchOf('a', 5), 'absent');
    await log.append(streamName(`${stream}0`), batchOf('b', 5), 'absent');
    await log.append(streamName(stream.slice(0, -1)), batchOf('c', 5), 'absent');
    const revisions = async (from: number, limit: number): Promise<number[]> =>
      (await log.readStream(stream, { from: streamRevision(from), limit })).map(({ revision }) => revision);
    t.same(await revisions(0, 2), [0, 1]);
    t.same(await revisions(3, 100), [3, 4]);
    t.same(await revisions(5, 100), []);
    t.same(await revisions(0, 0), []);
    t.same(
      plain(await log.readLast(stream)),
      plain((await log.readStream(stream, { from: streamRevision(4), limit: 1 }))[0]),
    );
    t.equal((await log.readLast(stream))?.id, idOf('a/4'));
  },

  'the answer of an append names where its last event stands, and the head is there': async (t, makeLog) => {
    const { log } = await makeLog(t);
    const { position } = appended(await log.append(stream, batchOf('a', 3), 'absent'));
    t.equal(await log.head(), position);
    t.equal((await log.readAt(position))?.id, idOf('a/2'));
    t.equal(await log.readAt(logPosition(position + 1n)), undefined);
  },

  'positions grow in the order events become visible': async (t, makeLog) => {
    const { log } = await makeLog(t);
    const visible: bigint[] = [];
    await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        visible.push(
          appended(
            await log.append(
              streamName(`object:w/${index.toString()}`),
              batchOf(index.toString(), 1 + (index % 3)),
              'absent',
            ),
          ).position,
        );
      }),
    );
    t.same(
      visible,
      visible.toSorted((a, b) => Number(a - b)),
      'appends are answered in order',
    );
    const positions = (await collect(log.readAll({ after: logStart }))).map(({ position }) => position);
    t.equal(positions.length, 399);
    t.ok(positions.every((position, index) => position > (positions[index - 1] ?? logStart)));
  },

  'nothing is visible before it is durable': async (t, makeLog, { isFarAway = false }) => {
    if (isFarAway) {
      t.test(
        'a durable event is not readable before its answer',
        { skip: 'this log may show an event before its append is answered' },
        () => undefined,
      );
      return;
    }
    const { log } = await makeLog(t);
    const append = log.append(stream, [proposed('a')], 'absent');
    const answers: unknown[] = [];
    const answered = (): boolean => answers.length > 0;
    const done = append.then((outcome) => answers.push(outcome));
    while (!answered()) {
      const seen = await Promise.all([log.head(), log.readLast(stream)]);
      // The answer may have come while these were on their way: only what came before it says anything.
      if (!answered()) t.same(seen, [logStart, undefined]);
      await nextTurn();
    }
    await done;
    t.equal((await log.readLast(stream))?.id, idOf('a'));
  },

  'a read of the whole log ends at its limit, or at the head at its start': async (t, makeLog) => {
    const { log } = await makeLog(t);
    const first = appended(await log.append(stream, batchOf('a', 3), 'absent')).position;
    const second = appended(await log.append(other, batchOf('b', 2), 'absent')).position;
    const ids = async (options: Parameters<EventLog['readAll']>[0]): Promise<string[]> =>
      (await collect(log.readAll(options))).map(({ id }) => id);
    const all = [...batchOf('a', 3), ...batchOf('b', 2)].map(({ id }) => id);
    t.same(await ids({ after: logStart }), all);
    t.same(await ids({ after: logStart, until: first }), all.slice(0, 3));
    t.same(await ids({ after: first }), all.slice(3));
    const positions = (await collect(log.readAll({ after: logStart }))).map(({ position }) => position);
    t.same(
      await ids({ after: positions[1] ?? logStart, until: logPosition(second - 1n) }),
      all.slice(2, 4),
      'also within an append',
    );
    t.same(await ids({ after: second }), []);
    t.same(
      await ids({ after: logStart, until: logPosition(second + 1_000n) }),
      all,
      'it does not wait for later events',
    );
  },

  'a filter keeps the streams of its categories': async (t, makeLog) => {
    const { log } = await makeLog(t);
    await log.append(stream, [proposed('a')], 'absent');
    await log.append(claim, [proposed('b')], 'absent');
    await log.append(streamName('objects:x'), [proposed('c')], 'absent');
    const last = appended(await log.append(other, [proposed('d')], 'absent')).position;
    const ids = (events: readonly RecordedEvent[]): string[] => events.map(({ id }) => id);
    t.same(ids(await collect(log.readAll({ after: logStart, categories: ['object'] }))), [idOf('a'), idOf('d')]);
    t.same(ids(await collect(log.readAll({ after: logStart, categories: ['claim', 'objects'] }))), [
      idOf('b'),
      idOf('c'),
    ]);
    t.same(ids(await collect(log.readAll({ after: logStart, categories: [] }))), []);
    t.same(ids(await collectTo(log, { after: logStart, categories: ['object'] }, last)), [idOf('a'), idOf('d')]);
  },

  'acknowledged events survive a restart': async (t, makeLog) => {
    const { log, reopen } = await makeLog(t);
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        log.append(streamName(`object:w/${index.toString()}`), batchOf(index.toString(), 2), 'absent'),
      ),
    );
    const before = (await collect(log.readAll({ after: logStart }))).map(plain);
    const head = await log.head();
    const again = await reopen();
    t.same((await collect(again.readAll({ after: logStart }))).map(plain), before);
    t.equal(await again.head(), head);
    const { position } = appended(await again.append(stream, [proposed('after')], 'absent'));
    t.ok(position > head, 'positions go on where they were');
  },
};
