import { logReadAheadBytesMax, logReadAheadEventsMax } from '../../src/limits/log.ts';
import { logStart, streamName, streamRevision } from '../../src/log/log.ts';
import type { BackwardReadOptions, EventLog, ExpectedRevision, RecordedEvent } from '../../src/log/log.ts';
import { idOf } from '../support/id-of.ts';
import { appended, batchOf, collect, plain, proposed } from '../support/memory/log-events.ts';
import type { Clauses } from './log-contract.ts';

const stream = streamName('object:widgets.example.com/w1');
const other = streamName('object:widgets.example.com/w2');
const claim = streamName('claim:widgets.example.com/serial/00ff');

const revisionsOf = (events: readonly RecordedEvent[]): number[] => events.map(({ revision }) => revision);
const idsOf = (events: readonly RecordedEvent[]): string[] => events.map(({ id }) => id);
const ids = (name: string, count: number): string[] => batchOf(name, count).map(({ id }) => id);

async function backwards(log: EventLog, options: BackwardReadOptions = {}): Promise<RecordedEvent[]> {
  return collect(log.readAllBackward(options));
}

/** Appends `count` events of `bytes` each, one by one. */
async function appendLarge(log: EventLog, count: number, bytes: number): Promise<void> {
  for (let revision = 0; revision < count; revision += 1) {
    const event = { ...proposed(`large ${String(revision)}`), data: Buffer.alloc(bytes, 'x') };
    appended(await log.append(stream, [event], revision === 0 ? 'absent' : streamRevision(revision - 1)));
  }
}

/** What reading from the newest to the oldest promises. */
export const backwardClauses: Clauses = {
  'nothing is read backwards from an empty log': async (t, makeLog) => {
    const { log } = await makeLog(t);
    t.same(await backwards(log), []);
    t.same(await log.readStreamBackward(stream, { limit: 10 }), []);
    t.same(await log.readStreamBackward(stream, { from: streamRevision(3), limit: 10 }), []);
  },

  'a stream is read backwards from a revision, up to a limit, and never into its neighbour': async (t, makeLog) => {
    const { log } = await makeLog(t);
    await log.append(streamName(stream.slice(0, -1)), batchOf('c', 5), 'absent');
    await log.append(stream, batchOf('a', 5), 'absent');
    await log.append(streamName(`${stream}0`), batchOf('b', 5), 'absent');
    const read = async (limit: number, from?: number): Promise<number[]> =>
      revisionsOf(
        await log.readStreamBackward(stream, { limit, ...(from === undefined ? {} : { from: streamRevision(from) }) }),
      );
    t.same(await read(2), [4, 3]);
    t.same(await read(100), [4, 3, 2, 1, 0]);
    t.same(await read(2, 3), [3, 2]);
    t.same(await read(100, 1), [1, 0]);
    t.same(await read(100, 0), [0]);
    t.same(await read(0), []);
    t.same(await read(2, 5), [4, 3], 'after the end it begins with the last');
    t.same(await read(1, Number.MAX_SAFE_INTEGER), [4]);
    const forwards = await log.readStream(stream, { from: streamRevision(0), limit: 10 });
    const both = await log.readStreamBackward(stream, { limit: 10 });
    t.same(both.map(plain), forwards.map(plain).reverse(), 'the same events as forwards');
  },

  'a stream is read backwards page by page while it grows': async (t, makeLog) => {
    const { log } = await makeLog(t);
    await log.append(stream, batchOf('a', 40), 'absent');
    const read: RecordedEvent[] = [];
    for (let from: number | undefined; from !== -1;) {
      const page = await log.readStreamBackward(stream, {
        limit: 7,
        ...(from === undefined ? {} : { from: streamRevision(from) }),
      });
      read.push(...page);
      const expected = 39 + Math.ceil(read.length / 7) - 1;
      appended(await log.append(stream, [proposed(`later ${String(read.length)}`)], streamRevision(expected)));
      from = (page.at(-1)?.revision ?? 0) - 1;
    }
    t.same(idsOf(read), ids('a', 40).reverse());
  },

  'a page of a stream ends with the event that reaches its bytes, in both directions': async (t, makeLog) => {
    const { log } = await makeLog(t);
    await appendLarge(log, 5, 10_000);
    const size = 10_000 + proposed('large 0').metadata.length;
    const from = streamRevision(0);
    for (const [bytesMax, count] of [
      [1, 1],
      [size, 1],
      [size + 1, 2],
      [2 * size, 2],
      [2 * size + 1, 3],
      [100 * size, 5],
    ] as const) {
      const forwards = revisionsOf(await log.readStream(stream, { from, limit: 10, bytesMax }));
      t.same(forwards, [0, 1, 2, 3, 4].slice(0, count), `${String(bytesMax)} bytes forwards`);
      const back = revisionsOf(await log.readStreamBackward(stream, { limit: 10, bytesMax }));
      t.same(back, [4, 3, 2, 1, 0].slice(0, count), `${String(bytesMax)} bytes backwards`);
    }
  },

  'the whole log is read backwards between two positions, both exclusive': async (t, makeLog) => {
    const { log } = await makeLog(t);
    const first = appended(await log.append(stream, batchOf('a', 3), 'absent')).position;
    const second = appended(await log.append(other, batchOf('b', 2), 'absent')).position;
    const all = [...ids('a', 3), ...ids('b', 2)].reverse();
    const read = async (options: BackwardReadOptions): Promise<string[]> => idsOf(await backwards(log, options));
    t.same(await read({}), all);
    t.same(await read({ after: logStart }), all);
    t.same(await read({ after: first }), all.slice(0, 2));
    t.same(await read({ before: second }), all.slice(1));
    t.same(await read({ before: second, after: first }), all.slice(1, 2));
    t.same(await read({ before: first }), all.slice(3), 'also within an append');
    t.same(await read({ after: second }), []);
    const positions = (await backwards(log)).map(({ position }) => position);
    t.same(await read({ before: positions.at(-1) ?? logStart }), [], 'nothing is before the first event');
    const forwards = await collect(log.readAll({ after: logStart }));
    t.same((await backwards(log)).map(plain), forwards.map(plain).reverse(), 'the same events as forwards');
  },

  'a filter of a backward read keeps the streams of its categories': async (t, makeLog) => {
    const { log } = await makeLog(t);
    const first = appended(await log.append(stream, [proposed('a')], 'absent')).position;
    await log.append(claim, [proposed('b')], 'absent');
    await log.append(streamName('objects:x'), [proposed('c')], 'absent');
    const last = appended(await log.append(other, [proposed('d')], 'absent')).position;
    const read = async (options: BackwardReadOptions): Promise<string[]> => idsOf(await backwards(log, options));
    t.same(await read({ categories: ['object'] }), [idOf('d'), idOf('a')]);
    t.same(await read({ categories: ['object'], after: first }), [idOf('d')]);
    t.same(await read({ categories: ['object'], before: last }), [idOf('a')]);
    t.same(await read({ categories: ['claim', 'objects'] }), [idOf('c'), idOf('b')]);
    t.same(await read({ categories: ['secret'] }), []);
    t.same(await read({ categories: [] }), []);
  },

  'backward batches are bounded, and a log of many events is read whole': async (t, makeLog) => {
    const { log } = await makeLog(t);
    const count = logReadAheadEventsMax * 2 + 10;
    let expected: ExpectedRevision = 'absent';
    for (let done = 0; done < count; done += 103) {
      const { revision } = appended(await log.append(stream, batchOf(`many ${String(done)}`, 103), expected));
      expected = streamRevision(revision);
    }
    const sizes: number[] = [];
    const revisions: number[] = [];
    for await (const batch of log.readAllBackward({})) {
      sizes.push(batch.length);
      revisions.push(...revisionsOf(batch));
    }
    t.ok(Math.max(...sizes) <= logReadAheadEventsMax, sizes.join());
    t.same(
      revisions,
      Array.from({ length: Number(expected) + 1 }, (_, back) => Number(expected) - back),
    );
  },

  'a backward batch ends with the event that exceeds its bytes': async (t, makeLog) => {
    const { log } = await makeLog(t);
    const bytes = 900_000;
    await appendLarge(log, 12, bytes);
    const sizes: number[] = [];
    for await (const batch of log.readAllBackward({})) sizes.push(batch.length);
    t.ok(Math.max(...sizes) <= Math.ceil(logReadAheadBytesMax / bytes), sizes.join());
    t.equal(
      sizes.reduce((sum, one) => sum + one, 0),
      12,
    );
  },

  'events that are appended during a backward read are not part of it': async (t, makeLog) => {
    const { log } = await makeLog(t);
    await log.append(stream, batchOf('a', 700), 'absent');
    const read: RecordedEvent[] = [];
    for await (const batch of log.readAllBackward({})) {
      appended(
        await log.append(streamName(`object:w/${String(read.length)}`), [proposed(String(read.length))], 'absent'),
      );
      read.push(...batch);
    }
    t.same(idsOf(read), ids('a', 700).reverse());
  },

  'a backward read ends when its signal aborts, and throws when the log closes': async (t, makeLog) => {
    const { log } = await makeLog(t);
    await log.append(stream, batchOf('a', 700), 'absent');
    const abort = new AbortController();
    let seen = 0;
    for await (const batch of log.readAllBackward({ signal: abort.signal })) {
      seen += batch.length;
      abort.abort();
    }
    t.ok(seen > 0 && seen < 700, String(seen));
    t.same(await backwards(log, { signal: AbortSignal.abort() }), []);
    const reading = log.readAllBackward({})[Symbol.asyncIterator]();
    await reading.next();
    await log.close();
    await t.rejects(
      (async () => {
        while ((await reading.next()).done !== true);
      })(),
    );
    await t.rejects(log.readStreamBackward(stream, { limit: 1 }));
  },

  'a stream is read backwards over the lives of its object': async (t, makeLog) => {
    const { log } = await makeLog(t);
    await log.append(stream, batchOf('first life', 3), 'absent');
    await log.append(other, [proposed('between')], 'absent');
    await log.append(stream, batchOf('second life', 2), streamRevision(2));
    t.same(idsOf(await log.readStreamBackward(stream, { limit: 10 })), [
      ...ids('second life', 2).reverse(),
      ...ids('first life', 3).reverse(),
    ]);
    const ends = (await log.readStreamBackward(stream, { limit: 10 })).map(({ endsAppend }) => endsAppend);
    t.same(ends, [true, false, true, false, false]);
  },

  'backward reads go on after a restart': async (t, makeLog) => {
    const { log, reopen } = await makeLog(t);
    await log.append(stream, batchOf('a', 20), 'absent');
    await log.append(claim, [proposed('c')], 'absent');
    const before = await backwards(log);
    const again = await reopen();
    t.same((await backwards(again)).map(plain), before.map(plain));
    t.same(revisionsOf(await again.readStreamBackward(stream, { limit: 3 })), [19, 18, 17]);
    t.same(idsOf(await backwards(again, { before: before[0]?.position ?? logStart, categories: ['claim'] })), []);
  },
};
