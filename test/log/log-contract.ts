import { setImmediate as nextTurn } from 'node:timers/promises';

import fc from 'fast-check';
import { test } from 'tap';
import type { Test } from 'tap';

import { logReadAheadEventsMax } from '../../src/limits.ts';
import { logPosition, logStart, streamName, streamRevision } from '../../src/log/log.ts';
import type { AppendOutcome, EventLog, LogPosition, ProposedEvent, RecordedEvent, StreamName, SubscribeOptions } from '../../src/log/log.ts';
import { idOf } from '../support/id-of.ts';

export type LogUnderTest = {
  readonly log: EventLog;
  /** Closes the log and opens it again on what it left behind. */
  readonly reopen: () => Promise<EventLog>;
};

export type MakeLog = (t: Test) => Promise<LogUnderTest>;

const seed = Number(process.env['PBT_SEED'] ?? 20_260_401);
const numRuns = Number(process.env['PBT_RUNS'] ?? 40);

export function proposed(text: string): ProposedEvent {
  return { id: idOf(text), type: 'ObjectCreated', data: Buffer.from(JSON.stringify({ text })), metadata: Buffer.from('{"actor":"test"}') };
}

export function batchOf(text: string, length: number): ProposedEvent[] {
  return Array.from({ length }, (_, index) => proposed(`${text}/${index.toString()}`));
}

/** What may be compared of an event: bytes by value, whichever class carries them. */
export function plain(event: RecordedEvent | undefined): unknown {
  if (event === undefined) return undefined;
  return { ...event, data: Buffer.from(event.data).toString(), metadata: Buffer.from(event.metadata).toString() };
}

export async function collect(batches: AsyncIterable<readonly RecordedEvent[]>): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const batch of batches) events.push(...batch);
  return events;
}

/** Reads a subscription until it has delivered the event at `last`. */
export async function collectTo(log: EventLog, options: SubscribeOptions, last: LogPosition): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const batch of log.subscribe(options)) {
    events.push(...batch);
    if ((events.at(-1)?.position ?? logStart) >= last) break;
  }
  return events;
}

export function appended(outcome: AppendOutcome): { readonly revision: number; readonly position: LogPosition } {
  if (!outcome.ok) throw new Error(`not appended: ${outcome.reason}`, { cause: outcome });
  return { revision: outcome.revision, position: outcome.position };
}

const stream = streamName('object:widgets.example.com/w1');
const other = streamName('object:widgets.example.com/w2');
const claim = streamName('claim:widgets.example.com/serial/00ff');

/** The suite every adapter passes: each test is a promise of the port. */
export function runLogContract(name: string, makeLog: MakeLog): void {
  appendContract(name, makeLog);
  readContract(name, makeLog);
  subscriptionContract(name, makeLog);
  closeContract(name, makeLog);
  seamContract(name, makeLog);
}

function appendContract(name: string, makeLog: MakeLog): void {
  void test(`${name}: a stream starts at revision 0 and grows without holes`, async (t) => {
    const { log } = await makeLog(t);
    t.equal(appended(await log.append(stream, [proposed('a')], 'absent')).revision, 0);
    t.equal(appended(await log.append(stream, batchOf('b', 3), streamRevision(0))).revision, 3);
    t.same((await log.readStream(stream, { from: streamRevision(0), limit: 10 })).map(({ revision }) => revision), [0, 1, 2, 3]);
  });

  void test(`${name}: a stale, an early and a missing expectation are answered with the actual revision`, async (t) => {
    const { log } = await makeLog(t);
    t.match(await log.append(stream, [proposed('ahead of nothing')], streamRevision(0)), { ok: false, reason: 'conflict', actual: 'absent' });
    await log.append(stream, batchOf('a', 3), 'absent');
    for (const expected of ['absent', streamRevision(0), streamRevision(1), streamRevision(3), streamRevision(900)] as const) {
      t.match(await log.append(stream, [proposed(`at ${expected.toString()}`)], expected), { ok: false, reason: 'conflict', actual: 2 });
    }
    t.equal((await collect(log.readAll({ after: logStart }))).length, 3, 'nothing was appended by a conflict');
  });

  void test(`${name}: what was appended is what is read, byte for byte`, async (t) => {
    const { log } = await makeLog(t);
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    const name = streamName('object:widgets.example.com/größe');
    const events = [{ ...proposed('x'), type: 'Ärger', data: bytes }, { ...proposed('y'), data: new Uint8Array(), metadata: Buffer.alloc(200_000, 'm') }];
    await log.append(name, events, 'absent');
    const read = await log.readStream(name, { from: streamRevision(0), limit: 10 });
    t.same(read.map((event) => ({ ...plain(event) as object, position: 0 })), events.map((event, revision) => (
      { ...event, data: event.data.toString(), metadata: event.metadata.toString(), stream: name, revision, position: 0 })));
    t.ok(Buffer.from(read[0]?.data ?? []).equals(bytes));
    t.equal(read[1]?.data.length, 0);
  });

  void test(`${name}: an empty batch throws`, async (t) => {
    const { log } = await makeLog(t);
    await t.rejects(async () => log.append(stream, [], 'absent'), RangeError);
  });

  void test(`${name}: a retry with the same ids answers the first success and appends nothing`, async (t) => {
    const { log, reopen } = await makeLog(t);
    const batch = batchOf('a', 3);
    const first = await log.append(stream, batch, 'absent');
    t.same(await log.append(stream, batch, 'absent'), first);
    await log.append(stream, [proposed('later')], streamRevision(2));
    t.same(await log.append(stream, batch, 'absent'), first, 'also when the stream has gone on');
    t.same(await (await reopen()).append(stream, batch, 'absent'), first, 'also after a restart');
  });

  void test(`${name}: a retry while the first attempt is in flight is answered with it`, async (t) => {
    const { log } = await makeLog(t);
    const [first, second] = await Promise.all([log.append(stream, [proposed('a')], 'absent'), log.append(stream, [proposed('a')], 'absent')]);
    t.ok(first.ok);
    t.same(second, first);
    t.equal((await collect(log.readAll({ after: logStart }))).length, 1);
  });

  void test(`${name}: a batch that repeats only some of the standing ids is a conflict`, async (t) => {
    const { log } = await makeLog(t);
    await log.append(stream, batchOf('a', 2), 'absent');
    t.match(await log.append(stream, [...batchOf('a', 2), proposed('more')], 'absent'), { ok: false, reason: 'conflict', actual: 1 });
    t.match(await log.append(stream, [proposed('a/0'), proposed('changed')], 'absent'), { ok: false, reason: 'conflict', actual: 1 });
  });

  void test(`${name}: of many concurrent appends at one revision exactly one wins, round after round`, async (t) => {
    const { log } = await makeLog(t);
    for (let round = 0; round < 20; round += 1) {
      const expected = round === 0 ? 'absent' : streamRevision(round - 1);
      const outcomes = await Promise.all(Array.from({ length: 16 }, (_, writer) => (
        log.append(stream, [proposed(`${round.toString()}/${writer.toString()}`)], expected))));
      t.equal(outcomes.filter(({ ok }) => ok).length, 1);
      t.equal(outcomes.filter((outcome) => !outcome.ok && outcome.reason === 'conflict' && outcome.actual === round).length, 15);
    }
  });

  void test(`${name}: a pipeline of appends to one stream need not wait for the answers`, async (t) => {
    const { log } = await makeLog(t);
    const outcomes = await Promise.all(Array.from({ length: 300 }, (_, index) => (
      log.append(stream, [proposed(index.toString())], index === 0 ? 'absent' : streamRevision(index - 1)))));
    t.same(outcomes.map((outcome) => appended(outcome).revision), outcomes.map((_, index) => index));
  });

  void test(`${name}: a conflict is not answered before the append it lost to is durable`, async (t) => {
    const { log } = await makeLog(t);
    const order: string[] = [];
    const winner = log.append(stream, [proposed('a')], 'absent').then(() => order.push('won'));
    const loser = log.append(stream, [proposed('b')], 'absent').then(() => order.push('lost'));
    await Promise.all([winner, loser]);
    t.same(order, ['won', 'lost']);
  });
}

function readContract(name: string, makeLog: MakeLog): void {
  void test(`${name}: an empty log has no head, no events and no streams`, async (t) => {
    const { log } = await makeLog(t);
    t.equal(await log.head(), logStart);
    t.same(await collect(log.readAll({ after: logStart })), []);
    t.equal(await log.readLast(stream), undefined);
    t.same(await log.readStream(stream, { from: streamRevision(0), limit: 10 }), []);
    t.equal(await log.readAt(logPosition(1n)), undefined);
  });

  void test(`${name}: a stream is read from a revision, up to a limit, and never into its neighbour`, async (t) => {
    const { log } = await makeLog(t);
    await log.append(stream, batchOf('a', 5), 'absent');
    await log.append(streamName(`${stream}0`), batchOf('b', 5), 'absent');
    await log.append(streamName(stream.slice(0, -1)), batchOf('c', 5), 'absent');
    const revisions = async (from: number, limit: number): Promise<number[]> => (
      (await log.readStream(stream, { from: streamRevision(from), limit })).map(({ revision }) => revision));
    t.same(await revisions(0, 2), [0, 1]);
    t.same(await revisions(3, 100), [3, 4]);
    t.same(await revisions(5, 100), []);
    t.same(await revisions(0, 0), []);
    t.same(plain(await log.readLast(stream)), plain((await log.readStream(stream, { from: streamRevision(4), limit: 1 }))[0]));
    t.equal((await log.readLast(stream))?.id, idOf('a/4'));
  });

  void test(`${name}: the answer of an append names where its last event stands, and the head is there`, async (t) => {
    const { log } = await makeLog(t);
    const { position } = appended(await log.append(stream, batchOf('a', 3), 'absent'));
    t.equal(await log.head(), position);
    t.equal((await log.readAt(position))?.id, idOf('a/2'));
    t.equal(await log.readAt(logPosition(position + 1n)), undefined);
  });

  void test(`${name}: positions grow in the order events become visible`, async (t) => {
    const { log } = await makeLog(t);
    const visible: bigint[] = [];
    await Promise.all(Array.from({ length: 200 }, async (_, index) => {
      visible.push(appended(await log.append(streamName(`object:w/${index.toString()}`), batchOf(index.toString(), 1 + index % 3), 'absent')).position);
    }));
    t.same(visible, visible.toSorted((a, b) => Number(a - b)), 'appends are answered in order');
    const positions = (await collect(log.readAll({ after: logStart }))).map(({ position }) => position);
    t.equal(positions.length, 399);
    t.ok(positions.every((position, index) => position > (positions[index - 1] ?? logStart)));
  });

  void test(`${name}: nothing is visible before it is durable`, async (t) => {
    const { log } = await makeLog(t);
    const append = log.append(stream, [proposed('a')], 'absent');
    let answered = false;
    const done = append.then(() => { answered = true; });
    while (!answered) {
      const [head, last] = await Promise.all([log.head(), log.readLast(stream)]);
      // The answer may have come while these were on their way: only one that came before it says anything.
      if (!answered) t.same([head, last], [logStart, undefined]);
      await nextTurn();
    }
    await done;
    t.equal((await log.readLast(stream))?.id, idOf('a'));
  });

  void test(`${name}: reading all ends where it was told to, or at the head as the read began`, async (t) => {
    const { log } = await makeLog(t);
    const first = appended(await log.append(stream, batchOf('a', 3), 'absent')).position;
    const second = appended(await log.append(other, batchOf('b', 2), 'absent')).position;
    const ids = async (options: Parameters<EventLog['readAll']>[0]): Promise<string[]> => (await collect(log.readAll(options))).map(({ id }) => id);
    const all = [...batchOf('a', 3), ...batchOf('b', 2)].map(({ id }) => id);
    t.same(await ids({ after: logStart }), all);
    t.same(await ids({ after: logStart, until: first }), all.slice(0, 3));
    t.same(await ids({ after: first }), all.slice(3));
    t.same(await ids({ after: logPosition(first - 1n), until: logPosition(second - 1n) }), all.slice(2, 4), 'also within an append');
    t.same(await ids({ after: second }), []);
    t.same(await ids({ after: logStart, until: logPosition(second + 1_000n) }), all, 'it does not wait for what is to come');
  });

  void test(`${name}: a filter keeps the streams of its categories`, async (t) => {
    const { log } = await makeLog(t);
    await log.append(stream, [proposed('a')], 'absent');
    await log.append(claim, [proposed('b')], 'absent');
    await log.append(streamName('objects:x'), [proposed('c')], 'absent');
    const last = appended(await log.append(other, [proposed('d')], 'absent')).position;
    const ids = (events: readonly RecordedEvent[]): string[] => events.map(({ id }) => id);
    t.same(ids(await collect(log.readAll({ after: logStart, categories: ['object'] }))), [idOf('a'), idOf('d')]);
    t.same(ids(await collect(log.readAll({ after: logStart, categories: ['claim', 'objects'] }))), [idOf('b'), idOf('c')]);
    t.same(ids(await collect(log.readAll({ after: logStart, categories: [] }))), []);
    t.same(ids(await collectTo(log, { after: logStart, categories: ['object'] }, last)), [idOf('a'), idOf('d')]);
  });

  void test(`${name}: what was acknowledged is there after a restart, under the same identity`, async (t) => {
    const { log, reopen } = await makeLog(t);
    await Promise.all(Array.from({ length: 50 }, (_, index) => log.append(streamName(`object:w/${index.toString()}`), batchOf(index.toString(), 2), 'absent')));
    const before = (await collect(log.readAll({ after: logStart }))).map(plain);
    const [head, identity] = [await log.head(), await log.identity()];
    const again = await reopen();
    t.same((await collect(again.readAll({ after: logStart }))).map(plain), before);
    t.equal(await again.head(), head);
    t.equal(await again.identity(), identity);
    t.match(identity, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u);
    t.not((await (await makeLog(t)).log.identity()), identity);
    const { position } = appended(await again.append(stream, [proposed('after')], 'absent'));
    t.ok(position > head, 'positions go on where they were');
  });
}

function subscriptionContract(name: string, makeLog: MakeLog): void {
  void test(`${name}: a subscriber that keeps up gets the very bytes that were appended`, async (t) => {
    const { log } = await makeLog(t);
    const subscription = log.subscribe({ after: logStart })[Symbol.asyncIterator]();
    const next = subscription.next();
    const event = proposed('a');
    await log.append(stream, [event], 'absent');
    const { value } = await next;
    t.equal(value?.[0]?.data, event.data, 'the same instance');
    t.equal(value?.[0]?.metadata, event.metadata);
    await subscription.return?.();
  });

  void test(`${name}: batches are whole appends within the read-ahead, unless one append is larger`, async (t) => {
    const { log } = await makeLog(t);
    const sizes = [300, logReadAheadEventsMax - 300, 1, logReadAheadEventsMax, 1, logReadAheadEventsMax + 1, 200];
    const ends = await Promise.all(sizes.map(async (size, index) => (
      appended(await log.append(streamName(`object:w/${index.toString()}`), batchOf(index.toString(), size), 'absent')).position)));
    const last = ends.at(-1) ?? logStart;
    const seen: number[] = [];
    for await (const batch of log.subscribe({ after: logStart })) {
      seen.push(batch.length);
      t.ok(ends.includes(batch.at(-1)?.position ?? logStart), 'a batch ends where an append ends');
      t.ok(batch.length <= logReadAheadEventsMax || new Set(batch.map(({ stream }) => stream)).size === 1);
      if (batch.at(-1)?.position === last) break;
    }
    t.equal(seen.reduce((sum, size) => sum + size, 0), sizes.reduce((sum, size) => sum + size, 0));
  });

  void test(`${name}: a subscription from within an append begins right after it`, async (t) => {
    const { log } = await makeLog(t);
    const { position } = appended(await log.append(stream, batchOf('a', 3), 'absent'));
    t.same((await collectTo(log, { after: logPosition(position - 1n) }, position)).map(({ id }) => id), [idOf('a/2')]);
  });

  void test(`${name}: a subscription ends when its signal aborts, whether it waits, reads or has not begun`, async (t) => {
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
  });
}

function closeContract(name: string, makeLog: MakeLog): void {
  void test(`${name}: closing answers what is in flight, ends subscribers and refuses the rest`, async (t) => {
    const { log, reopen } = await makeLog(t);
    const subscribed = collect(log.subscribe({ after: logStart }));
    await nextTurn();
    const inFlight = Array.from({ length: 100 }, (_, index) => log.append(streamName(`object:w/${index.toString()}`), [proposed(index.toString())], 'absent'));
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
  });

  void test(`${name}: a read that closing cuts short throws, as it must not look complete`, async (t) => {
    const { log } = await makeLog(t);
    await Promise.all(Array.from({ length: 1_000 }, (_, index) => log.append(streamName(`object:w/${index.toString()}`), [proposed(index.toString())], 'absent')));
    await t.rejects(async () => {
      for await (const batch of log.readAll({ after: logStart })) {
        t.ok(batch.length < 1_000);
        await log.close();
      }
    });
  });
}

type Step =
  | { readonly kind: 'append'; readonly stream: number; readonly size: number; readonly wait: boolean }
  | { readonly kind: 'subscribe'; readonly after: number; readonly category: string | undefined; readonly pauses: number }
  | { readonly kind: 'turn' };

const steps = fc.array(fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('append' as const), stream: fc.nat(3), size: fc.integer({ min: 1, max: 5 }), wait: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('subscribe' as const), after: fc.double({ min: 0, max: 1, noNaN: true }), category: fc.constantFrom(undefined, 'object', 'claim'), pauses: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('turn' as const) }) },
), { minLength: 5, maxLength: 60 });

type Watch = { readonly after: LogPosition; readonly category: string | undefined; readonly received: Promise<RecordedEvent[]> };

function seamContract(name: string, makeLog: MakeLog): void {
  void test(`${name}: a subscriber sees every later event once and in order, wherever and whenever it begins (PBT_SEED=${seed.toString()})`, async (t) => {
    const { log } = await makeLog(t);
    let run = 0;
    await fc.assert(fc.asyncProperty(steps, async (plan) => {
      run += 1;
      const watches = await play(log, plan, run.toString());
      const all = await collect(log.readAll({ after: logStart }));
      for (const { after, category, received } of watches) {
        const expected = all.filter(({ position, stream: from }) => position > after && (category === undefined || from.startsWith(`${category}:`)));
        const got = await received;
        if (!same(got, expected)) throw new Error(`after ${after.toString()} (${category ?? 'all'}): got ${list(got)}, expected ${list(expected)}`);
      }
    }), { seed, numRuns });
    t.pass();
  });
}

function list(events: readonly RecordedEvent[]): string {
  return events.map(({ position }) => position.toString()).join(',');
}

function same(left: readonly RecordedEvent[], right: readonly RecordedEvent[]): boolean {
  return left.length === right.length && left.every((event, index) => {
    const twin = right[index];
    return twin !== undefined && event.id === twin.id && event.position === twin.position && event.revision === twin.revision && event.stream === twin.stream;
  });
}

/** Performs the steps, lets every subscriber reach the last event of its category, and answers what they received. */
async function play(log: EventLog, plan: readonly Step[], run: string): Promise<readonly Watch[]> {
  const watches: Watch[] = [];
  const heads = new Map<StreamName, number>();
  const inFlight: Promise<unknown>[] = [];
  const append = async (to: StreamName, events: readonly ProposedEvent[]): Promise<void> => {
    const head = heads.get(to);
    heads.set(to, (head ?? -1) + events.length);
    const outcome = appended(await log.append(to, events, head === undefined ? 'absent' : streamRevision(head)));
    if (outcome.revision !== (head ?? -1) + events.length) throw new Error('an append was answered with another revision');
  };
  const receive = async (options: SubscribeOptions, pauses: number): Promise<RecordedEvent[]> => {
    const received: RecordedEvent[] = [];
    const last = idOf(`${run}/stop/${options.categories?.[0] ?? 'claim'}`);
    for await (const batch of log.subscribe(options)) {
      received.push(...batch);
      if (batch.some(({ id }) => id === last)) break;
      for (let pause = 0; pause < pauses; pause += 1) await nextTurn();
    }
    return received;
  };
  const categories = ['object', 'claim'];
  for (const [index, step] of plan.entries()) {
    if (step.kind === 'turn') await nextTurn();
    if (step.kind === 'append') {
      const done = append(streamName(`${categories[step.stream % 2] ?? ''}:${run}/${step.stream.toString()}`), batchOf(`${run}/${index.toString()}`, step.size));
      inFlight.push(done);
      if (step.wait) await done;
    }
    if (step.kind === 'subscribe') {
      const after = logPosition(BigInt(Math.round(step.after * Number(await log.head()))));
      const filter = step.category === undefined ? {} : { categories: [step.category] };
      watches.push({ after, category: step.category, received: receive({ after, ...filter }, step.pauses) });
    }
  }
  await Promise.all(inFlight);
  for (const category of categories) await append(streamName(`${category}:${run}/stop`), [proposed(`${run}/stop/${category}`)]);
  return watches;
}
