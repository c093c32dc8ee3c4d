import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { test } from 'tap';
import type { Test } from 'tap';

import { openLmdbLog } from '../../src/log/lmdb/lmdb-log.ts';
import { streamNameBytesMax } from '../../src/limits/log.ts';
import { logRecentEventsMax } from '../../src/limits/log.ts';
import { openStore } from '../../src/log/lmdb/lmdb-store.ts';
import type { LmdbStore } from '../../src/log/lmdb/lmdb-store.ts';
import { LogCorruptError, logPosition, logStart, streamName, streamRevision } from '../../src/log/log.ts';
import type { EventLog } from '../../src/log/log.ts';
import { idOf } from '../support/id-of.ts';
import { batchOf, collect, collectTo, deliver, proposed } from '../support/memory/log-events.ts';
import { logContract, type LogUnderTest } from './log-contract.ts';

const stream = streamName('object:widgets.example.com/w1');

async function directory(t: Test): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'ledgerplane-log-'));
  t.teardown(() => rm(dir, { recursive: true }));
  return dir;
}

function openAt(t: Test, dir: string): Promise<EventLog> {
  return openLmdbLog({ dir, onFatal: (error) => t.fail('the log failed', { error }) });
}

async function makeLmdbLog(t: Test): Promise<LogUnderTest> {
  const dir = await directory(t);
  let log = await openAt(t, dir);
  t.teardown(() => log.close());
  return {
    log,
    reopen: async () => {
      await log.close();
      log = await openAt(t, dir);
      return log;
    },
  };
}

for (const [sentence, prove] of logContract) test(`lmdb: ${sentence}`, (t) => prove(t, makeLmdbLog, {}));

/** A log of five events, closed, after `damage` was done to its tables. */
async function damaged(t: Test, damage: (store: LmdbStore) => Promise<unknown>): Promise<string> {
  const dir = await directory(t);
  const log = await openAt(t, dir);
  await log.append(stream, batchOf('a', 5), 'absent');
  await log.close();
  const store = await openStore(dir);
  await damage(store);
  await store.root.close();
  return dir;
}

async function flip(store: LmdbStore, position: number): Promise<void> {
  const record = Buffer.from(store.events.get(position) ?? []);
  record[60] = (record[60] ?? 0) ^ 1;
  await store.events.put(position, record);
}

test('a scan visits each event once, in batches of the requested size', async (t) => {
  const { log } = await makeLmdbLog(t);
  await log.append(stream, batchOf('a', 8), 'absent');
  const seen: (bigint | 'batch')[] = [];
  await log.scan?.({
    after: logPosition(1n),
    until: logPosition(7n),
    batchEvents: 4,
    visit: ({ position }) => seen.push(position),
    onBatch: () => {
      seen.push('batch');
      return Promise.resolve();
    },
  });
  t.strictSame(seen, [2n, 3n, 4n, 5n, 'batch', 6n, 7n, 'batch']);
});

test('a damaged record stops every reader that reaches it, and is never skipped', async (t) => {
  const log = await openAt(t, await damaged(t, (store) => flip(store, 3)));
  t.equal((await log.readAt(logPosition(2n)))?.id, idOf('a/1'));
  await t.rejects(log.readAt(logPosition(3n)), LogCorruptError);
  await t.rejects(log.readStream(stream, { from: streamRevision(0), limit: 10 }), LogCorruptError);
  await t.rejects(collect(log.readAll({ after: logStart })), LogCorruptError);
  await t.rejects(collect(log.subscribe({ after: logStart })), LogCorruptError);
  await t.rejects(collect(log.subscribe({ after: logStart, categories: ['claim'] })), LogCorruptError);
  t.equal((await collect(log.readAll({ after: logPosition(3n) }))).length, 2);
  await log.close();
});

test('a missing record stops every reader that reaches it', async (t) => {
  // As many entries as records, or the log is not opened at all.
  const log = await openAt(
    t,
    await damaged(t, async (store) => {
      await store.events.remove(3);
      await store.streams.remove([stream, 1]);
    }),
  );
  await t.rejects(collect(log.readAll({ after: logStart })), LogCorruptError);
  await t.rejects(collect(log.subscribe({ after: logPosition(2n) })), LogCorruptError);
  await t.rejects(log.readStream(stream, { from: streamRevision(2), limit: 1 }), LogCorruptError);
  await log.close();
});

test("an index entry with another event's position stops the reader", async (t) => {
  const log = await openAt(
    t,
    await damaged(t, async (store) => {
      const first = Buffer.from(store.streams.get([stream, 0]) ?? []);
      await store.streams.put([stream, 1], first);
      await store.streams.put([other, 0], first);
      await store.streams.remove([stream, 3]);
    }),
  );
  t.teardown(() => log.close());
  await t.rejects(log.readStream(stream, { from: streamRevision(0), limit: 5 }), LogCorruptError);
  await t.rejects(log.append(stream, [proposed('b')], streamRevision(0)), LogCorruptError);
  await t.rejects(log.readStream(other, { from: streamRevision(0), limit: 5 }), LogCorruptError);
  await t.rejects(log.readLast(other), LogCorruptError);
});

test('a hole in the index of a stream stops the reader', async (t) => {
  const log = await openAt(t, await damaged(t, async (store) => move(store, [stream, 2], [other, 0])));
  t.teardown(() => log.close());
  await t.rejects(log.readStream(stream, { from: streamRevision(0), limit: 5 }), LogCorruptError);
});

const other = streamName('object:widgets.example.com/w2');
type IndexKey = [stream: string, revision: number];

/** An entry of the index stands at another key: LMDB's pages have no checksum that would say so. */
async function move(store: LmdbStore, from: IndexKey, to: IndexKey): Promise<void> {
  const position = Buffer.from(store.streams.get(from) ?? []);
  await store.streams.remove(from);
  await store.streams.put(to, position);
}

test('a lost or moved index entry stops every reader that reaches its record', async (t) => {
  // Of the last revision: nothing else says that the stream goes on, and the next append would take its place.
  const moves: readonly (readonly [IndexKey, IndexKey, position: bigint])[] = [
    [[stream, 4], [other, 0], 5n],
    [[stream, 3], [stream, 7], 4n],
    [[stream, 0], [other, 1], 1n],
  ];
  for (const [from, to, position] of moves.slice(1)) {
    const log = await openAt(t, await damaged(t, async (store) => move(store, from, to)));
    const message =
      `the log is corrupt: revision ${String(from[1])} of ${stream} is at position ${String(position)}, but the ` +
      'index has another position or no entry';
    await t.rejects(collect(log.readAll({ after: logStart })), { name: 'LogCorruptError', message });
    await t.rejects(collect(log.subscribe({ after: logPosition(position - 1n), categories: ['claim'] })), { message });
    if (position < 5n)
      t.equal((await collect(log.readAll({ after: logPosition(position) }))).length, 5 - Number(position));
    await log.close();
  }
  const [[from, to]] = moves as readonly [readonly [IndexKey, IndexKey, bigint]];
  await t.rejects(
    openAt(t, await damaged(t, async (store) => move(store, from, to))),
    LogCorruptError,
    'the newest record is checked when the log is opened',
  );
});

test('a log with different numbers of index entries and records is not opened', async (t) => {
  await t.rejects(openAt(t, await damaged(t, (store) => store.streams.remove([stream, 2]))), {
    name: 'LogCorruptError',
    message: 'the log is corrupt: the log has 5 records, but the index of streams has 4 entries',
  });
  await t.rejects(openAt(t, await damaged(t, (store) => store.events.remove(2))), LogCorruptError);
});

test('a log with a damaged last record is not opened', async (t) => {
  const dir = await damaged(t, (store) => flip(store, 5));
  await t.rejects(openAt(t, dir), LogCorruptError);
});

test('a log of another format, or without one, is not opened', async (t) => {
  const newer = await damaged(t, (store) =>
    store.root.put('format', Buffer.from('2 00000000-0000-4000-8000-000000000000')),
  );
  await t.rejects(openAt(t, newer), { message: 'the log has format 2; this program reads format 1' });
  const none = await damaged(t, (store) => store.root.remove('format'));
  await t.rejects(openAt(t, none), LogCorruptError);
});

test("a stream's name holds up to streamNameBytesMax bytes, and a longer one appends nothing", async (t) => {
  const log = await openAt(t, await directory(t));
  t.teardown(() => log.close());
  const longest = streamName(`object:${'ä'.repeat((streamNameBytesMax - 8) / 2)}a`);
  t.equal(Buffer.byteLength(longest), streamNameBytesMax);
  t.ok((await log.append(longest, batchOf('a', 2), 'absent')).ok);
  t.equal((await log.readLast(longest))?.id, idOf('a/1'));
  await t.rejects(log.append(streamName(`${longest}b`), [proposed('b')], 'absent'), RangeError);
  t.equal(await log.head(), logPosition(2n));
});

test('a subscriber behind the events in memory continues from disk, without gap or repeat', async (t) => {
  const log = await openAt(t, await directory(t));
  t.teardown(() => log.close());
  const subscription = deliver(log, { after: logStart });
  const first = subscription.next();
  await log.append(stream, [proposed('first')], 'absent');
  const received = [...(await first)];
  const size = 100;
  const appends = Math.ceil(logRecentEventsMax / size) + 20;
  await Promise.all(
    Array.from({ length: appends }, (_, index) =>
      log.append(streamName(`object:w/${index.toString()}`), batchOf(index.toString(), size), 'absent'),
    ),
  );
  const total = 1 + appends * size;
  while (received.length < total) received.push(...(await subscription.next()));
  t.same(
    received.map(({ position }) => position),
    Array.from({ length: total }, (_, index) => BigInt(index + 1)),
  );
  const live = proposed('live');
  const next = subscription.next();
  await log.append(stream, [live], streamRevision(0));
  t.equal((await next)[0]?.data, live.data, 'and is live again at the end');
  await subscription.end();
});

test('many subscribers share one copy of new events', async (t) => {
  const log = await openAt(t, await directory(t));
  t.teardown(() => log.close());
  const subscribers = Array.from({ length: 200 }, () => collectTo(log, { after: logStart }, logPosition(50n)));
  await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      log.append(streamName(`object:w/${index.toString()}`), [proposed(index.toString())], 'absent'),
    ),
  );
  const [one = [], ...others] = await Promise.all(subscribers);
  t.equal(one.length, 50);
  t.ok(others.every((received) => received.every((event, index) => event === one[index])));
});

test('after a failed commit the log stops, all callers get the error, acknowledged events remain', async (t) => {
  const dir = await directory(t);
  const childPath = fileURLToPath(new URL('full-disk-child.js', import.meta.url));
  // The limit is in blocks of 512 bytes, and node ignores the signal that comes with it: writes past 8 MiB fail, as on
  // a full disk.
  const limited = ['-c', 'ulimit -f 16384; exec "$0" "$@"', process.execPath, childPath, dir];
  const child = spawn('sh', limited, { stdio: ['ignore', 'pipe', 'ignore'], env: { PATH: process.env['PATH'] } });
  const reports = new Map(
    (await text(child.stdout))
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
  );
  const acknowledged = reports.get('acknowledged')?.split(' ') ?? [];
  const reasons = reports.get('reasons')?.split(' ') ?? [];
  t.ok(acknowledged.length > 20);
  t.ok(reasons.includes('unknown'));
  t.ok(reasons.every((reason) => reason === 'unknown' || reason === 'unavailable'));
  t.equal(reports.get('later'), 'unavailable');
  t.equal(reports.get('head'), 'rejected');
  t.equal(reports.get('reader'), reports.get('error'), 'a subscriber throws the fatal error');
  t.match(
    reports.get('cause'),
    /Input\/output error|File too large/u,
    'with the reason lmdb gives for its failed commit',
  );
  const log = await openAt(t, dir);
  // A read throws at a hole: appends after the failed commit must not have been stored.
  const found = new Set((await collect(log.readAll({ after: logStart }))).map(({ id }) => id));
  t.same(
    acknowledged.filter((name) => !found.has(idOf(name))),
    [],
  );
  await log.close();
});
