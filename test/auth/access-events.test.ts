import { test } from 'tap';

import { AccessEvents } from '../../src/auth/access-events/access-events.ts';
import type { Access } from '../../src/auth/access-events/access-recorder.ts';
import { eventSchema, type AccessEvent } from '../../src/command/event.ts';
import {
  accessBatchMs,
  accessCertainBytesMax,
  accessEntriesPerSourceMax,
  accessEntryBytesBurst,
  accessEntryBytesPerSecond,
  accessPathLengthMax,
  accessSourcesMax,
} from '../../src/limits/access.ts';
import { decodeEvent } from '../../src/log/event-codec.ts';
import { logStart, streamName, type AppendOutcome, type EventLog, type RecordedEvent } from '../../src/log/log.ts';
import { FakeClock } from '../support/clocks/fake-clock.ts';
import { idOf } from '../support/id-of.ts';
import { MemoryLog } from '../support/memory/memory-log.ts';
import { altered } from '../support/writing.ts';
import { turns } from '../reconcilers/controller-stage.ts';

const stream = streamName('access:node');
const refused: Access = {
  kind: 'forbidden',
  requestId: 'r',
  address: '192.0.2.1',
  user: 'jane',
  verb: 'get',
  path: '/p',
};
const away: AppendOutcome = { ok: false, reason: 'unavailable', cause: new Error('no answer') };

class Stage {
  readonly clock = new FakeClock();
  readonly log = new MemoryLog();
  readonly states: (string | undefined)[] = [];
  readonly accesses: AccessEvents;
  isShort = false;
  #ids = 0;

  constructor(
    append: (log: EventLog) => EventLog['append'] = (log) =>
      async (...call) =>
        log.append(...call),
  ) {
    this.accesses = new AccessEvents({
      log: altered(this.log, { append: append(this.log) }),
      stream,
      clock: this.clock,
      uuid: () => {
        this.#ids += 1;
        return idOf(String(this.#ids));
      },
      metadata: () => ({
        actor: 'system:access',
        verb: 'create',
        requestId: 'm',
        time: new Date(this.clock.now()).toISOString(),
        schema: eventSchema,
        $correlationId: 'm',
      }),
      disk: { isShort: () => this.isShort, take: () => undefined },
      onState: (reason) => {
        this.states.push(reason);
      },
    });
  }

  record(access: Partial<Access> = {}, times = 1): void {
    for (let time = 0; time < times; time += 1) this.accesses.record({ ...refused, ...access });
  }

  async pass(ms: number = accessBatchMs): Promise<void> {
    this.clock.advance(ms);
    await turns();
  }

  async recorded(): Promise<readonly RecordedEvent[]> {
    const found: RecordedEvent[] = [];
    for await (const batch of this.log.readAll({ after: logStart })) found.push(...batch);
    return found;
  }

  async events(): Promise<readonly AccessEvent[]> {
    return (await this.recorded()).map((recorded) => decodeEvent(recorded).event as AccessEvent);
  }
}

const sum = (events: readonly AccessEvent[], kind: Access['kind']): number =>
  events.reduce((count, { counts }) => count + (counts[kind] ?? 0), 0);

test('what happens within a second is one event, and nothing is written while nothing happens', async (t) => {
  const stage = new Stage();
  t.equal(stage.clock.timers, 0);
  stage.record({ kind: 'login', verb: undefined, path: undefined });
  await stage.pass(accessBatchMs - 1);
  stage.record({ token: 'ci' });
  t.strictSame(await stage.events(), []);
  await stage.pass(1);
  stage.record({ kind: 'login-failed', user: null, verb: undefined, path: undefined });
  await stage.pass();
  await stage.pass(10 * accessBatchMs);
  const [first, second, ...more] = await stage.events();
  t.match(first, {
    type: 'AccessRecorded',
    from: '2026-01-01T00:00:00.000Z',
    until: '2026-01-01T00:00:01.000Z',
    counts: { login: 1, forbidden: 1 },
  });
  const known = { requestId: 'r', address: '192.0.2.1' };
  t.strictSame(first?.entries, [
    { time: '2026-01-01T00:00:00.000Z', kind: 'login', ...known, user: 'jane' },
    {
      time: '2026-01-01T00:00:00.999Z',
      kind: 'forbidden',
      ...known,
      user: 'jane',
      token: 'ci',
      verb: 'get',
      path: '/p',
    },
  ]);
  t.strictSame(second?.entries, [
    { time: '2026-01-01T00:00:01.000Z', kind: 'login-failed', ...known, isUnknownUser: true },
  ]);
  t.strictSame(more, []);
  t.equal(stage.clock.timers, 0);
});

test('of one user or network a few refusals of a kind are described, and all are counted', async (t) => {
  const stage = new Stage();
  stage.record({}, accessEntriesPerSourceMax);
  stage.record({ user: 'john' });
  stage.record({ kind: 'unauthorized', user: undefined, address: '2001:db8::1' }, accessEntriesPerSourceMax);
  await stage.pass();
  stage.record({}, accessEntriesPerSourceMax + 1);
  stage.record({ kind: 'unauthorized', user: undefined, address: '2001:db8::2' }, 100_000);
  await stage.pass();
  const [first, second] = (await stage.events()) as [AccessEvent, AccessEvent];
  t.equal(first.entries.length, 2 * accessEntriesPerSourceMax + 1);
  t.strictSame(second.counts, { forbidden: accessEntriesPerSourceMax + 1, unauthorized: 100_000 });
  t.equal(second.entries.length, 2 * accessEntriesPerSourceMax);
  t.equal(stage.accesses.omitted, 100_001 - accessEntriesPerSourceMax);
});

test('a flood from everywhere makes the log grow by a bounded number of bytes, and is counted exactly', async (t) => {
  const stage = new Stage();
  const seconds = 600;
  for (let second = 0; second < seconds; second += 1) {
    for (let index = 0; index < 200; index += 1)
      stage.record({ kind: 'unauthorized', user: undefined, address: `10.${String(index)}.${String(second)}.1` });
    await stage.pass();
  }
  t.equal(sum(await stage.events(), 'unauthorized'), 200 * seconds);
  const bytes = (await stage.recorded()).reduce((all, { data, metadata }) => all + data.length + metadata.length, 0);
  const most = accessEntryBytesBurst + seconds * (accessEntryBytesPerSecond + 512);
  t.ok(bytes <= most, `${String(bytes)} bytes, at most ${String(most)}`);
  t.ok(bytes > (seconds * accessEntryBytesPerSecond) / 2, 'some are described in each second');
});

test('sources, paths and log-ins have their bounds', async (t) => {
  const stage = new Stage();
  for (let index = 0; index < accessSourcesMax; index += 1)
    stage.record({ kind: 'unauthorized', user: undefined, address: `192.0.2.${String(index)}` });
  t.equal(stage.accesses.omitted, 0);
  stage.record({ kind: 'unauthorized', user: undefined, address: '198.51.100.1' });
  t.equal(stage.accesses.omitted, 1);
  stage.record({ kind: 'login' });
  await stage.pass();
  t.equal((await stage.events())[0]?.entries.at(-1)?.kind, 'login', 'a log-in is described all the same');
  stage.clock.advance(3_600_000);
  stage.record({ user: 'n', path: 'p'.repeat(accessPathLengthMax) });
  stage.record({ user: 'n1', path: 'p'.repeat(accessPathLengthMax + 1) });
  stage.record({ kind: 'login', user: 'u'.repeat(253), verb: undefined, path: undefined }, 10_000);
  await stage.pass();
  const { entries, counts } = (await stage.events()).at(-1)!;
  t.strictSame(
    entries.slice(0, 2).map(({ path }) => path?.length),
    [accessPathLengthMax, accessPathLengthMax],
  );
  t.equal(counts.login, 10_000);
  const logIns = entries.filter(({ kind }) => kind === 'login');
  const bytes = logIns.reduce((all, entry) => all + JSON.stringify(entry).length + 1, 0);
  t.ok(bytes <= accessCertainBytesMax && bytes > accessCertainBytesMax - 1_024);
});

test('while the log is away nobody waits, and what happened is counted exactly once it is back', async (t) => {
  let isAway = true;
  const stage = new Stage(
    (log) =>
      async (...call) =>
        isAway ? away : log.append(...call),
  );
  stage.record({}, 10);
  await stage.pass();
  for (let second = 0; second < 100; second += 1) {
    stage.record({}, 1_000);
    await stage.pass();
  }
  t.strictSame(stage.states, ['Error: no answer'], 'one report');
  isAway = false;
  await stage.pass(2 * accessBatchMs);
  await stage.pass();
  const events = await stage.events();
  t.equal(events.length, 2);
  t.equal(sum(events, 'forbidden'), 100_010);
  t.equal(events[1]?.entries.length, accessEntriesPerSourceMax);
  t.strictSame(stage.states, ['Error: no answer', undefined]);
});

test('an append with an unknown outcome leaves one event, whether it succeeded or not', async (t) => {
  for (const isWritten of [true, false]) {
    let calls = 0;
    const stage = new Stage((log) => async (...call) => {
      calls += 1;
      if (calls > 1) return log.append(...call);
      if (isWritten) await log.append(...call);
      throw new Error('connection lost');
    });
    stage.record();
    await stage.pass();
    stage.record({ kind: 'logout' });
    await stage.pass();
    await stage.pass();
    t.strictSame(
      (await stage.events()).map(({ counts }) => counts),
      [{ forbidden: 1 }, { logout: 1 }],
    );
  }
});

test('a log that never answers holds up neither requests nor the stop', async (t) => {
  const stage = new Stage(() => async () => new Promise(() => undefined));
  stage.record();
  await stage.pass();
  stage.record({}, 1_000);
  await stage.pass(60_000);
  t.equal(stage.accesses.totals.get('forbidden'), 1_001);
  let isStopped = false;
  const stopping = stage.accesses.stop().then(() => {
    isStopped = true;
  });
  await turns();
  t.notOk(isStopped);
  await stage.pass(accessBatchMs);
  await stopping;
  stage.record();
  t.equal(stage.accesses.totals.get('forbidden'), 1_001, 'nothing is recorded after it');
});

test('a stop writes what is left', async (t) => {
  const stage = new Stage();
  stage.record();
  await stage.pass();
  stage.record({ kind: 'logout' });
  await stage.accesses.stop();
  t.equal((await stage.events()).length, 2);
  t.equal(stage.clock.timers, 0);
});

test('on a disk that is nearly full nothing is written, and what happened is counted later', async (t) => {
  const stage = new Stage();
  stage.isShort = true;
  stage.record({}, 3);
  await stage.pass(5 * accessBatchMs);
  t.strictSame(await stage.events(), []);
  stage.isShort = false;
  await stage.pass();
  t.strictSame((await stage.events())[0]?.counts, { forbidden: 3 });
});

test('events of another writer in the stream are no obstacle', async (t) => {
  const stage = new Stage();
  stage.record();
  await stage.pass();
  const [other] = await stage.recorded();
  await stage.log.append(stream, [{ ...other!, id: idOf('another') }], other!.revision);
  stage.record({ kind: 'logout' });
  await stage.pass();
  await stage.pass();
  t.strictSame((await stage.events()).at(-1)?.counts, { logout: 1 });
  t.strictSame(stage.states, ['the stream of access events contains events of another writer', undefined]);
});
