/** The server that stands in for EventStoreDB, asked by the real client over a real socket. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  binaryEvent,
  END,
  EventStoreDBClient,
  FORWARDS,
  jsonEvent,
  NO_STREAM,
  START,
  streamNameFilter,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import type {
  AllStreamSubscription,
  AppendExpectedRevision,
  EventData,
  StreamingRead,
  ResolvedEvent,
} from '@eventstore/db-client';
import { test } from 'tap';
import type { Test } from 'tap';

import { fileDisk } from '../../support/eventstore/event-disk.ts';
import { spawnEventStore } from '../../support/eventstore/eventstore-process.ts';
import { startEventStore } from '../../support/eventstore/eventstore.ts';
import type { EventStore, EventStoreOptions } from '../../support/eventstore/eventstore.ts';

async function started(
  t: Test,
  options: EventStoreOptions = {},
): Promise<{ readonly store: EventStore; readonly client: EventStoreDBClient }> {
  const store = await startEventStore(options);
  const client = EventStoreDBClient.connectionString(store.url);
  t.teardown(async () => {
    await client.dispose();
    await store.stop();
  });
  return { store, client };
}

function event(text: string, id = randomUUID()): EventData {
  return binaryEvent({
    id,
    type: 'Written',
    data: new Uint8Array(Buffer.from(text)),
    metadata: new Uint8Array(Buffer.from('{"actor":"test"}')),
  });
}

async function read(reading: StreamingRead<ResolvedEvent>): Promise<NonNullable<ResolvedEvent['event']>[]> {
  const events: NonNullable<ResolvedEvent['event']>[] = [];
  for await (const { event: recorded } of reading) if (recorded !== undefined) events.push(recorded);
  return events;
}

function texts(events: readonly { readonly data: unknown }[]): string[] {
  return events.map(({ data }) => Buffer.from(data as Uint8Array).toString());
}

/** Its error. */
function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

async function append(
  client: EventStoreDBClient,
  stream: string,
  text: string,
  expectedRevision: AppendExpectedRevision,
): Promise<bigint> {
  return (await client.appendToStream(stream, event(text), { expectedRevision })).nextExpectedRevision;
}

/** The next `count` events of a subscription. */
async function take(
  subscription: AllStreamSubscription,
  count: number,
): Promise<NonNullable<ResolvedEvent['event']>[]> {
  const events: NonNullable<ResolvedEvent['event']>[] = [];
  while (events.length < count) {
    const resolved = subscription.read() as ResolvedEvent | null;
    if (resolved === null) await once(subscription, 'readable');
    else if (resolved.event !== undefined) events.push(resolved.event);
  }
  return events;
}

test('appended events are read back, from a batch and from a single call', async (t) => {
  const { client } = await started(t);
  const first = await client.appendToStream('a-1', [event('one'), event('two')], { expectedRevision: NO_STREAM });
  t.equal(first.nextExpectedRevision, 1n);
  const second = await client.appendToStream('a-1', event('three'), {
    expectedRevision: 1n,
    credentials: { username: 'u', password: 'p' },
  });
  t.equal(second.nextExpectedRevision, 2n);
  const events = await read(client.readStream('a-1'));
  t.same(texts(events), ['one', 'two', 'three']);
  t.same(
    events.map(({ revision, type, metadata, isJson }) => ({ revision, type, metadata, isJson })),
    [0n, 1n, 2n].map((revision) => ({ revision, type: 'Written', metadata: { actor: 'test' }, isJson: false })),
  );
  t.ok(events.every(({ position }) => position?.commit === position?.prepare));
  t.equal(events[1]?.position?.commit, first.position?.commit, 'an append returns the position of its last event');
  t.equal(events[2]?.position?.commit, second.position?.commit);
  t.ok((events[2]?.position?.commit ?? 0n) - (events[1]?.position?.commit ?? 0n) > 50n, 'positions are byte offsets');
});

test("the whole log is read forwards and backwards, with other writers' events", async (t) => {
  const { client, store } = await started(t);
  await append(client, 'a-1', 'one', NO_STREAM);
  await store.foreignAppend({ stream: 'other', json: { hello: 'there' } });
  await append(client, 'a-1', 'two', 0n);
  const all = await read(client.readAll());
  t.ok(all[0]?.streamId.startsWith('$'), 'it begins with what the server wrote');
  t.same(
    all.slice(-3).map(({ streamId }) => streamId),
    ['a-1', 'other', 'a-1'],
  );
  t.same(all.at(-2)?.data, { hello: 'there' });
  const backwards = await read(client.readAll({ direction: 'backwards', fromPosition: END, maxCount: 2 }));
  t.same(
    backwards.map(({ streamId }) => streamId),
    ['a-1', 'other'],
  );
  const position = all.at(-2)?.position ?? { commit: 0n, prepare: 0n };
  t.same((await read(client.readAll({ fromPosition: position }))).length, 2, 'inclusive forwards');
  t.same(
    (await read(client.readAll({ fromPosition: position, direction: 'backwards', maxCount: 1 })))[0]?.streamId,
    'a-1',
    'exclusive backwards',
  );
  const odd = { commit: position.commit + 1n, prepare: position.prepare + 1n };
  t.match(await failure(read(client.readAll({ fromPosition: odd }))), { type: 'unknown' });
  const after = { commit: position.commit + 1_000_000n, prepare: position.prepare + 1_000_000n };
  t.same(await read(client.readAll({ fromPosition: after })), []);
});

test('a stream is read from a revision, up to a count, in both directions', async (t) => {
  const { client } = await started(t);
  await client.appendToStream(
    'a-1',
    ['0', '1', '2', '3'].map((text) => event(text)),
  );
  t.same(texts(await read(client.readStream('a-1', { fromRevision: 1n, maxCount: 2 }))), ['1', '2']);
  t.same(texts(await read(client.readStream('a-1', { fromRevision: END, direction: 'backwards', maxCount: 1 }))), [
    '3',
  ]);
  t.same(texts(await read(client.readStream('a-1', { fromRevision: 2n, direction: 'backwards' }))), ['2', '1', '0']);
  t.same(await read(client.readStream('a-1', { fromRevision: 9n })), [], 'past the end it is empty');
  t.match(await failure(read(client.readStream('none', { direction: FORWARDS }))), { type: 'stream-not-found' });
});

test('a wrong expected revision is answered with both revisions, and no message', async (t) => {
  const { client } = await started(t);
  await append(client, 'a-1', 'one', NO_STREAM);
  const wrong = await failure(append(client, 'a-1', 'two', 5n));
  t.ok(wrong instanceof WrongExpectedVersionError);
  t.match(wrong, { type: 'wrong-expected-version', message: '', expectedVersion: 5n, actualVersion: 0n });
  t.match(await failure(append(client, 'none', 'two', 5n)), { expectedVersion: 5n, actualVersion: 'no_stream' });
  t.match(await failure(append(client, 'a-1', 'two', NO_STREAM)), { expectedVersion: 'no_stream', actualVersion: 0n });
  const unary = { expectedRevision: NO_STREAM, credentials: { username: 'u', password: 'p' } } as const;
  t.match(await failure(client.appendToStream('a-1', event('two'), unary)), {
    expectedVersion: 'no_stream',
    actualVersion: 0n,
  });
});

test('equal ids are recognised at the same expected revision, and written again at the current one', async (t) => {
  const { client } = await started(t);
  const batch = [event('one'), event('two')];
  const first = await client.appendToStream('a-1', batch, { expectedRevision: NO_STREAM });
  await append(client, 'a-1', 'three', 1n);
  t.same(await client.appendToStream('a-1', batch, { expectedRevision: NO_STREAM }), first);
  t.equal((await client.appendToStream('a-1', batch, { expectedRevision: 2n })).nextExpectedRevision, 4n);
  t.match(await failure(client.appendToStream('a-1', [...batch, event('more')], { expectedRevision: NO_STREAM })), {
    type: 'wrong-expected-version',
  });
  t.same(texts(await read(client.readStream('a-1'))), ['one', 'two', 'three', 'one', 'two']);
});

test('an empty append succeeds at revision 0, and a too large one fails', async (t) => {
  const { client } = await started(t);
  t.equal((await client.appendToStream('a-1', [], { expectedRevision: NO_STREAM })).nextExpectedRevision, 0n);
  t.match(await failure(append(client, 'a-1', 'x'.repeat(1_048_577), NO_STREAM)), {
    type: 'maximum-append-size-exceeded',
  });
  const pending = client.appendToStream('a-1', event('x'.repeat(20_000_000)));
  t.match(await failure(pending), { type: 'unknown', code: 8 });
  t.equal(await append(client, 'a-1', 'x'.repeat(1_000_000), NO_STREAM), 0n);
});

test('a subscription sees each later event of its streams, across the seam and live', async (t) => {
  const { client, store } = await started(t);
  for (let index = 0; index < 100; index += 1)
    await append(client, `ours-${index.toString()}`, index.toString(), NO_STREAM);
  const checkpoints: bigint[] = [];
  const subscription = client.subscribeToAll({
    fromPosition: START,
    filter: streamNameFilter({
      prefixes: ['ours-'],
      checkpointReached: (_, { commit }) => {
        checkpoints.push(commit);
      },
    }),
  });
  t.teardown(() => subscription.unsubscribe());
  let caughtUp = 0;
  subscription.on('caughtUp', () => {
    caughtUp += 1;
  });
  const before = await take(subscription, 100);
  t.same(
    texts(before),
    Array.from({ length: 100 }, (_, index) => index.toString()),
  );
  await store.foreignAppend({ stream: 'other' });
  await append(client, 'ours-live', 'live', NO_STREAM);
  t.same(texts(await take(subscription, 1)), ['live']);
  t.equal(caughtUp, 1);
  t.ok(checkpoints.length >= 3);
  const again = client.subscribeToAll({
    fromPosition: before[97]?.position ?? START,
    filter: streamNameFilter({ prefixes: ['ours-'] }),
  });
  t.teardown(() => again.unsubscribe());
  t.same(texts(await take(again, 3)), ['98', '99', 'live'], 'from is exclusive');
});

test('a deleted stream is not found and keeps its numbering, one with a tombstone stays deleted', async (t) => {
  const { client } = await started(t);
  await client.appendToStream('a-1', [event('one'), event('two')]);
  await client.deleteStream('a-1');
  t.match(await failure(read(client.readStream('a-1'))), { type: 'stream-not-found' });
  t.equal(await append(client, 'a-1', 'three', NO_STREAM), 2n);
  t.same(
    (await read(client.readStream('a-1'))).map(({ revision }) => revision),
    [2n],
  );
  await client.tombstoneStream('a-1');
  t.match(await failure(read(client.readStream('a-1'))), { type: 'stream-deleted' });
  t.match(await failure(append(client, 'a-1', 'four', 2n)), { type: 'stream-deleted' });
});

test('retention hides from the stream at once and from the whole log when it is scavenged', async (t) => {
  const { client, store } = await started(t);
  await client.setStreamMetadata('lease-1', { maxCount: 1 });
  t.match((await client.getStreamMetadata('lease-1')).metadata, { maxCount: 1 });
  for (let index = 0; index < 3; index += 1)
    await append(client, 'lease-1', index.toString(), index === 0 ? NO_STREAM : BigInt(index - 1));
  t.same(texts(await read(client.readStream('lease-1'))), ['2']);
  const ours = async (): Promise<NonNullable<ResolvedEvent['event']>[]> =>
    (await read(client.readAll())).filter(({ streamId }) => streamId === 'lease-1');
  const [deleted] = await ours();
  t.equal((await ours()).length, 3);
  await store.scavenge();
  t.same(texts(await ours()), ['2']);
  t.equal(
    (await read(client.readAll({ fromPosition: deleted?.position ?? START })))[0]?.streamId,
    'lease-1',
    'a read can start at a scavenged position',
  );
  t.equal(await append(client, 'lease-1', '3', 2n), 3n);
});

test('a scavenge ends a chunk and survives a restart, which forgets the ids of dropped events', async (t) => {
  for (const file of [false, true]) {
    const dir = await mkdtemp(join(tmpdir(), 'ledgerplane-eventstore-'));
    const { client, store } = await started(t, file ? { disk: await fileDisk(join(dir, 'events')) } : {});
    await client.setStreamMetadata('lease-1', { maxCount: 1 });
    const first = event('0');
    await client.appendToStream('lease-1', first, { expectedRevision: NO_STREAM });
    const before = await client.appendToStream('lease-1', [event('1'), event('2')], { expectedRevision: 0n });
    await store.scavenge();
    const after = await client.appendToStream('a-1', event('a'), { expectedRevision: NO_STREAM });
    t.equal((after.position?.commit ?? 0n) % 268_435_456n, 0n, 'the next chunk');
    t.same(texts(await read(client.readStream('lease-1'))), ['2']);
    t.equal(
      (await client.appendToStream('lease-1', first, { expectedRevision: NO_STREAM })).nextExpectedRevision,
      0n,
      'a retry of a dropped event',
    );
    await store.restart();
    // The first call may still go out on the connection that was cut.
    await failure(read(client.readAll({ maxCount: 1 })));
    t.same(
      (await read(client.readAll())).filter(({ streamId }) => /^[a-z]/u.test(streamId)).map(({ position }) => position),
      [before.position, after.position],
    );
    t.match(await failure(client.appendToStream('lease-1', first, { expectedRevision: NO_STREAM })), {
      type: 'wrong-expected-version',
      actualVersion: 2n,
    });
    t.equal(await append(client, 'lease-1', '3', 2n), 3n, 'numbers go on');
    await rm(dir, { recursive: true });
  }
});

test('a subscription from a scavenged position lacks the next event, and a read does not', async (t) => {
  const { client, store } = await started(t);
  await client.setStreamMetadata('lease-1', { maxCount: 1 });
  const places: { readonly commit: bigint; readonly prepare: bigint }[] = [];
  const add = async (stream: string, expected: AppendExpectedRevision): Promise<void> => {
    const { position } = await client.appendToStream(stream, event(stream), { expectedRevision: expected });
    if (position !== undefined) places.push(position);
  };
  await add('lease-1', NO_STREAM);
  await add('a-1', NO_STREAM);
  await add('lease-1', 0n);
  await add('other', NO_STREAM);
  await add('a-2', NO_STREAM);
  await add('lease-1', 1n);
  await add('a-3', NO_STREAM);
  await store.scavenge();
  const [first, a1, second] = places;
  const followed = async (fromPosition: typeof first): Promise<string[]> => {
    const subscription = client.subscribeToAll({
      fromPosition: fromPosition ?? START,
      filter: streamNameFilter({ prefixes: ['a-'] }),
    });
    const events: string[] = [];
    while (events.at(-1) !== 'a-3') events.push(...texts(await take(subscription, 1)));
    await subscription.unsubscribe();
    return events;
  };
  t.same(await followed(first), ['a-2', 'a-3'], 'a-1 is not sent');
  t.same(await followed(second), ['a-2', 'a-3'], "another's event is not sent, which nobody misses");
  t.same(await followed(a1), ['a-2', 'a-3']);
  const next = async (fromPosition: typeof first, direction: 'forwards' | 'backwards'): Promise<string[]> =>
    texts(await read(client.readAll({ fromPosition: fromPosition ?? START, direction, maxCount: 1 })));
  t.same(await next(first, 'forwards'), ['a-1']);
  t.same(await next(second, 'forwards'), ['other']);
  t.same(await next(second, 'backwards'), ['a-1']);
});

test('JSON data and metadata are parsed', async (t) => {
  const { client } = await started(t);
  await client.appendToStream('a-1', [jsonEvent({ type: 'J', data: { a: 1 }, metadata: { b: 2 } })]);
  const [recorded] = await read(client.readStream('a-1'));
  t.match(recorded, { isJson: true, data: { a: 1 }, metadata: { b: 2 }, type: 'J' });
});

test('in its own process, acknowledged events survive SIGKILL', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'ledgerplane-eventstore-'));
  const store = await spawnEventStore({ file: join(dir, 'events') });
  const client = EventStoreDBClient.connectionString(store.url);
  t.teardown(async () => {
    await client.dispose();
    await store.stop();
    await rm(dir, { recursive: true });
  });
  const acknowledged = new Set<string>();
  const killed = Array.from({ length: 20 }, async (_, writer) => {
    for (let turn = 0; ; turn += 1) {
      const text = `${writer.toString()}/${turn.toString()}`;
      if (
        (await failure(append(client, `a-${writer.toString()}`, text, turn === 0 ? NO_STREAM : BigInt(turn - 1)))) !==
        undefined
      )
        return;
      acknowledged.add(text);
      if (acknowledged.size === 100) await store.kill();
    }
  });
  await Promise.all(killed);
  await store.restart();
  const again = EventStoreDBClient.connectionString(store.url);
  t.teardown(() => again.dispose());
  const found = new Set(texts((await read(again.readAll())).filter(({ streamId }) => streamId.startsWith('a-'))));
  t.same(
    [...acknowledged].filter((text) => !found.has(text)),
    [],
  );
});
