import { randomUUID } from 'node:crypto';

import { test } from 'tap';

import type { PlatformEvent } from '../../src/command/event.ts';
import { actorIn, correlationIn, encodeEvent, onBehalfOfIn, stampOf } from '../../src/log/event-codec.ts';
import { FoundedLog, platformStream, readFounding, UnsuitableLogError } from '../../src/log/founded-log.ts';
import {
  epochShift,
  logPosition,
  logStart,
  LogRefusedError,
  NewerEventError,
  streamName,
  streamRevision,
  UnknownPositionError,
} from '../../src/log/log.ts';
import type { EventLog, LogPosition, ProposedEvent, RecordedEvent } from '../../src/log/log.ts';
import { appended, collect, collectTo, proposed } from '../support/memory/log-events.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { altered } from '../support/writing.ts';

const stream = streamName('object:w/a');
const given = { domain: 'example.com', now: Date.UTC(2026, 0, 1), uuid: () => randomUUID() };
const started = { type: 'EpochStarted', logId: 'the log', domain: 'example.com', epoch: 0, reason: 'founded' } as const;

function platformEvent(event: PlatformEvent, schema = 1): ProposedEvent {
  return encodeEvent(randomUUID(), event, {
    actor: 'system:log',
    verb: 'create',
    requestId: 'r',
    time: '2026-01-01T00:00:00.000Z',
    schema,
    $correlationId: 'r',
  });
}

async function logOf(...events: readonly ProposedEvent[]): Promise<MemoryLog> {
  const log = new MemoryLog();
  if (events.length > 0) appended(await log.append(platformStream, events, 'absent'));
  return log;
}

async function founded(raw: EventLog): Promise<FoundedLog> {
  const log = new FoundedLog(raw);
  await log.found(given);
  return log;
}

test('an empty log is founded once, by any of its first users, and keeps its identity', async (t) => {
  const raw = new MemoryLog();
  const nodes = Array.from({ length: 8 }, () => new FoundedLog(raw));
  const identities = await Promise.all(nodes.map(async (node) => node.found(given)));
  t.equal(new Set(identities.map(({ logId }) => logId)).size, 1);
  t.match(identities[0], { epoch: 0, logId: /^[0-9a-f-]{36}$/u });
  t.equal((await collect(raw.readAll({ after: logStart }))).length, 1);
  t.same(nodes[3]?.identity(), identities[0]);
  t.match(await readFounding(raw), { domain: 'example.com', reason: 'founded', finished: true });
});

test('before it is founded nothing is read or appended', async (t) => {
  const log = new FoundedLog(new MemoryLog());
  t.throws(() => log.identity());
  t.match(await log.append(stream, [proposed('a')], 'absent'), { ok: false, reason: 'unavailable' });
  await t.rejects(log.readLast(stream));
  await t.rejects(log.readStream(stream, { from: streamRevision(0), limit: 1 }));
  await t.rejects(log.readStreamBackward(stream, { limit: 1 }));
  await t.rejects(collect(log.readAllBackward({})));
  await t.rejects(log.head());
  await t.rejects(log.readAt(logPosition(1n)));
  await t.rejects(collect(log.readAll({ after: logStart })));
  await t.rejects(collect(log.subscribe({ after: logStart })));
});

test("in the first epoch events and positions are the log's own", async (t) => {
  const raw = new MemoryLog();
  const log = await founded(raw);
  const { position } = appended(await log.append(stream, [proposed('a')], 'absent'));
  t.equal(position, logPosition(2n));
  t.equal(await log.head(), await raw.head());
  t.equal(await log.readLast(stream), await raw.readLast(stream), 'the very instance');
  t.equal((await log.readStreamBackward(stream, { limit: 1 }))[0], await raw.readLast(stream), 'backwards as well');
  await t.rejects(collect(log.readAll({ after: logPosition(epochShift(1) + 1n) })), UnknownPositionError);
  await t.rejects(collect(log.readAllBackward({ before: logPosition(epochShift(1) + 1n) })), UnknownPositionError);
  t.equal(await log.readAt(logPosition(epochShift(1) + 1n)), undefined);
});

test('in a later epoch every position is one of that epoch, and those of earlier ones are unknown', async (t) => {
  const raw = await logOf(platformEvent(started), platformEvent({ ...started, epoch: 3, reason: 'restored' }));
  const log = await founded(raw);
  t.same(log.identity(), { logId: 'the log', epoch: 3 });
  const { position } = appended(await log.append(stream, [proposed('a')], 'absent'));
  t.equal(position, epochShift(3) + 3n);
  t.equal(await log.head(), position);
  const whole = await collect(log.readAll({ after: logStart }));
  t.same(
    whole.map((event) => event.position),
    [1n, 2n, 3n].map((place) => place + epochShift(3)),
  );
  const [inner] = await collect(raw.readAll({ after: logPosition(2n) }));
  t.equal(whole[2]?.data, inner?.data, 'bytes are the very instances');
  const same = (events: readonly (RecordedEvent | undefined)[], places: readonly LogPosition[]): void => {
    t.same(
      events.map((event) => event?.position),
      places,
    );
  };
  same(await collect(log.readAll({ after: logPosition(position - 2n), until: logPosition(position - 1n) })), [
    logPosition(position - 1n),
  ]);
  const second = [logPosition(position - 1n)];
  same(await collect(log.readAllBackward({ before: position, after: logPosition(position - 2n) })), second);
  same(await collect(log.readAllBackward({})), whole.map((event) => event.position).reverse());
  same(await log.readStreamBackward(stream, { limit: 5 }), [position]);
  same(await collectTo(log, { after: logPosition(position - 1n) }, position), [position]);
  same(
    [
      await log.readLast(stream),
      await log.readAt(position),
      ...(await log.readStream(stream, { from: streamRevision(0), limit: 5 })),
    ],
    [position, position, position],
  );
  for (const foreign of [1n, 3n, epochShift(2) + 3n, epochShift(3) - 1n, epochShift(4)].map(logPosition)) {
    await t.rejects(collect(log.readAll({ after: foreign })), UnknownPositionError, foreign.toString());
    await t.rejects(collect(log.subscribe({ after: foreign })), UnknownPositionError);
    await t.rejects(collect(log.readAllBackward({ after: foreign })), UnknownPositionError);
    await t.rejects(collect(log.readAllBackward({ before: foreign })), UnknownPositionError);
    t.equal(await log.readAt(foreign), undefined);
  }
});

test('a log that cannot be served is refused, and nothing is written to it', async (t) => {
  const copied = { ...started, epoch: 1, reason: 'copied', copyOf: { logId: 'another', epoch: 0 } } as const;
  const unknown = { ...platformEvent(started), type: 'LogMelted', data: Buffer.from('{}') };
  const refused: Readonly<Record<string, readonly [events: readonly ProposedEvent[], message: RegExp]>> = {
    "another domain's": [
      [platformEvent({ ...started, domain: 'other.org' })],
      /PLATFORM_DOMAIN other\.org.*example\.com/u,
    ],
    'an unfinished copy': [[platformEvent(copied)], /an unfinished copy/u],
    'a copy begun again': [[platformEvent(started), platformEvent(copied)], /an unfinished copy/u],
    'of an unknown type': [[unknown], /later version/u],
    'of a newer schema': [[platformEvent(started, 2)], /later version/u],
    "another stream's event": [
      [{ ...platformEvent(started), type: 'PasswordSet', data: Buffer.from('{"hash":"x"}') }],
      /PasswordSet/u,
    ],
  };
  for (const [what, [events, message]] of Object.entries(refused)) {
    const raw = await logOf(...events);
    const head = await raw.head();
    await t.rejects(founded(raw), { message }, what);
    await t.rejects(founded(raw), UnsuitableLogError, what);
    t.equal(await raw.head(), head);
  }
  t.same(
    (await founded(await logOf(platformEvent(copied), platformEvent({ type: 'CopyFinished', events: 1 })))).identity(),
    { logId: 'the log', epoch: 1 },
  );
});

test('each caller asks an unavailable log again, and a refusing log reports the reason', async (t) => {
  const raw = new MemoryLog();
  const silent = altered(raw, {
    append: () => Promise.resolve({ ok: false, reason: 'unavailable', cause: new Error('no answer') }),
  });
  await t.rejects(founded(silent), /event log: the log is unavailable/u);
  const refusing = altered(raw, {
    append: () => Promise.resolve({ ok: false, reason: 'unavailable', cause: new LogRefusedError('access denied') }),
  });
  await t.rejects(founded(refusing), LogRefusedError);
  t.match((await founded(raw)).identity(), { epoch: 0 });
});

test("the id of an event's chain is read without parsing", async (t) => {
  const place = { stream, revision: streamRevision(0), position: logPosition(1n), endsAppend: true };
  const chainOf = (id: string, more: object = {}): string => {
    const metadata = { actor: 'a","$correlationId":"x', schema: 1, time: '2026', $correlationId: id, ...more };
    return correlationIn({ ...proposed('a'), ...place, metadata: Buffer.from(JSON.stringify(metadata)) });
  };
  for (const id of ['r', '', 'é', 'a"b', '\\', '\\"', ',"$correlationId":"', '\n']) {
    t.equal(chainOf(id), id);
    t.equal(chainOf(id, { $causationId: 'c', declared: 7 }), id);
  }
  t.equal(correlationIn({ ...platformEvent(started), ...place }), 'r', 'of an event of this process');
});

test('the actor of an event is found without parsing, however it is written', async (t) => {
  const inPlace = { stream, revision: streamRevision(0), position: logPosition(1n), endsAppend: true };
  const actorOf = (metadata: object): string =>
    actorIn({ ...proposed('a'), ...inPlace, metadata: Buffer.from(JSON.stringify(metadata)) });
  const rest = { time: '2026-01-01T00:00:00.000Z', schema: 1, $correlationId: 'r' };
  t.equal(actorOf({ actor: 'jane', verb: 'create', ...rest }), 'jane');
  t.equal(actorOf({ verb: '{"actor":"eve', actor: 'jane', ...rest }), 'jane', 'not the first member');
  t.equal(actorOf({ actor: 'a "quoted" \\ name', ...rest }), 'a "quoted" \\ name');
  t.equal(actorOf({ actor: 'Jörg', ...rest }), 'Jörg');
});

test('the user for which a plugin wrote is found without parsing, however it is written', async (t) => {
  const inPlace = { stream, revision: streamRevision(0), position: logPosition(1n), endsAppend: true };
  const userOf = (metadata: object): string | undefined =>
    onBehalfOfIn({ ...proposed('a'), ...inPlace, metadata: Buffer.from(JSON.stringify(metadata)) });
  const rest = { verb: 'create', userAgent: ',"onBehalfOf":"eve"', time: '2026', schema: 1, $correlationId: 'r' };
  for (const name of ['jane', 'a "quoted" \\ name', 'Jörg', ',"onBehalfOf":"eve', '\\'])
    t.equal(userOf({ actor: 'plugin:p', onBehalfOf: name, ...rest }), name);
  t.equal(userOf({ actor: 'plugin:p', ...rest }), undefined);
  t.equal(userOf({ actor: '","onBehalfOf":"eve', ...rest }), undefined);
  t.equal(onBehalfOfIn({ ...platformEvent(started), ...inPlace }), undefined, 'of an event of this process');
});

test("an event's time is read without parsing, and an event of a later version is an error", async (t) => {
  const cause = { actor: 'a","schema":7,"time":"2099-01-01T00:00:00.000Z', verb: 'create', requestId: 'r' };
  const metadata = { ...cause, time: '2026-01-02T03:04:05.678Z', schema: 1, $correlationId: 'r' };
  const place = { stream, revision: streamRevision(0), position: logPosition(1n), endsAppend: true };
  const recorded = (text: unknown): RecordedEvent => ({
    ...proposed('a'),
    ...place,
    metadata: Buffer.from(JSON.stringify(text)),
  });
  t.equal(stampOf(recorded(metadata)), metadata.time);
  t.equal(stampOf(recorded({ ...metadata, $correlationId: '","schema":9,' })), metadata.time);
  t.equal(stampOf(recorded({ time: metadata.time, schema: 1 })), metadata.time, 'in another order it is parsed');
  const own = platformEvent(started);
  t.equal(stampOf({ ...own, ...place }), '2026-01-01T00:00:00.000Z');
  for (const schema of [2, 10, 11, 100])
    t.throws(() => stampOf(recorded({ ...metadata, schema })), NewerEventError, String(schema));
});

test('a tree begins with the log and with each restore, and a copy continues the tree of its source', async (t) => {
  const restored = { ...started, epoch: 1, reason: 'restored' } as const;
  const copied = { ...started, epoch: 1, reason: 'copied', copyOf: { logId: 'source', epoch: 0 } } as const;
  const finished = { type: 'CopyFinished', events: 0 } as const;
  const treeOf = async (...events: readonly PlatformEvent[]): Promise<readonly [string, string | undefined]> => {
    const proposals = events.map((event) => platformEvent(event));
    const log = await founded(await logOf(...proposals));
    return [log.tree(), proposals.find(({ id }) => id === log.tree())?.type];
  };
  t.equal(new FoundedLog(new MemoryLog()).tree(), '', 'it is unknown before');
  t.match(await treeOf(started), [/^[0-9a-f-]{36}$/u, 'EpochStarted']);
  const raw = await logOf(platformEvent(started), platformEvent(restored));
  const [first, second] = await collect(raw.readAll({ after: logStart }));
  const again = await founded(raw);
  t.equal(again.tree(), second?.id);
  t.not(again.tree(), first?.id);
  t.strictSame(await treeOf({ ...copied, tree: 'of the source' }, finished), ['of the source', undefined]);
  t.match(await treeOf(copied, finished), [/./u, 'EpochStarted'], 'a copy by an earlier version begins one');
});
