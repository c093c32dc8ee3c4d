/**
 * Writers and readers on the adapter while its server fails in every way a schedule draws: `node
 * eventstore-storm-child.js <seed> <runs>`. A process of its own, as the driver throws errors that nobody can catch: it
 * goes on as the server does, and any other stray error ends it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

import fc from 'fast-check';

import { openEventStoreLog } from '../../../src/log/eventstore/eventstore-log.ts';
import { isStrayAppendReply } from '../../../src/log/eventstore/eventstore-stray.ts';
import { logStart, streamName, streamRevision } from '../../../src/log/log.ts';
import type { AppendOutcome, EventLog, ExpectedRevision, RecordedEvent, StreamName } from '../../../src/log/log.ts';
import { startEventStore } from '../../support/eventstore/eventstore.ts';
import type { EventStore } from '../../support/eventstore/eventstore.ts';
import { notReady, unavailable } from '../../support/eventstore/faults.ts';
import type { AppendFault, ReadFault, Refusal } from '../../support/eventstore/faults.ts';
import { batchOf, collect } from '../../support/memory/log-events.ts';
import { quickClock } from '../../support/clocks/quick-clock.ts';

const refusals: fc.Arbitrary<Refusal> = fc.constantFrom(
  unavailable,
  notReady,
  { code: 2, details: 'it failed' },
  { code: 1, details: 'cancelled' },
);
const appendFaults: fc.Arbitrary<AppendFault | undefined> = fc.oneof(
  { weight: 14, arbitrary: fc.constant(undefined) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<AppendFault[]>(
      { kind: 'drop-before' },
      { kind: 'drop-after' },
      { kind: 'twice' },
      { kind: 'unready' },
    ),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('no-answer' as const), written: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('late-answer' as const, 'late-write' as const),
      ms: fc.integer({ min: 1, max: 700 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('refuse' as const), refusal: refusals, written: fc.boolean() }),
  },
);
const readFaults: fc.Arbitrary<ReadFault | undefined> = fc.oneof(
  { weight: 8, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constant({ kind: 'twice' } as const) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('refuse' as const), refusal: refusals }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('cut' as const), afterEvents: fc.nat(20), refusal: refusals }),
  },
);
/** What happens to the whole server, and how many appends after the last thing that did. */
const disasters = fc.record({
  kind: fc.constantFrom('restart', 'drop', 'reject', 'end-readers', 'pause'),
  appends: fc.integer({ min: 1, max: 60 }),
  refusal: refusals,
});
type Disaster = { readonly kind: string; readonly appends: number; readonly refusal: Refusal };

const storms = fc.record({
  writers: fc.integer({ min: 2, max: 12 }),
  turns: fc.integer({ min: 3, max: 12 }),
  appends: fc.array(appendFaults, { minLength: 10, maxLength: 80 }),
  reads: fc.array(readFaults, { minLength: 5, maxLength: 30 }),
  disasters: fc.array(disasters, { maxLength: 6 }),
  earlyConflicts: fc.boolean(),
});
type Storm = typeof storms extends fc.Arbitrary<infer T> ? T : never;

let strays = 0;
process.on('uncaughtException', (error) => {
  if (isStrayAppendReply(error)) {
    strays += 1;
    return;
  }
  process.stderr.write(`stray: ${error.stack ?? error.message}\n`);
  process.exit(1);
});

/** The faults of a schedule, each in its turn; when they are used up the sky is clear. */
function release(store: EventStore, { appends, reads, disasters: coming, earlyConflicts }: Storm): void {
  const left = { appends: [...appends], reads: [...reads], disasters: [...coming] };
  let since = 0;
  store.faults.earlyConflicts = earlyConflicts;
  store.faults.append = () => {
    since += 1;
    const [disaster] = left.disasters;
    if (disaster !== undefined && since >= disaster.appends) {
      left.disasters.shift();
      since = 0;
      setImmediate(() => {
        void strike(store, disaster);
      });
    }
    return left.appends.shift();
  };
  store.faults.read = () => left.reads.shift();
}

async function strike(store: EventStore, { kind, appends, refusal }: Disaster): Promise<void> {
  if (kind === 'restart') await store.restart({ closedMs: appends, unavailableMs: appends, notReadyMs: appends });
  else if (kind === 'drop') store.dropConnections();
  else if (kind === 'reject') store.rejectInFlight(refusal);
  else if (kind === 'end-readers') store.endReaders(refusal);
  else if (kind === 'pause') {
    store.pause();
    setTimeout(() => {
      store.resume();
    }, appends * 15);
  }
}

type Written = {
  readonly ids: readonly string[];
  readonly stream: StreamName;
  readonly outcome: AppendOutcome & { readonly ok: true };
};

/**
 * Writes until each round is won, as every command does: an unknown outcome is retried unchanged, a conflict is decided
 * again.
 */
async function write(log: EventLog, storm: Storm, writer: number): Promise<Written[]> {
  const own = streamName(`object:own/${writer.toString()}`);
  const written: Written[] = [];
  let expected: ExpectedRevision = 'absent';
  for (let turn = 0; turn < storm.turns; turn += 1) {
    const batch = batchOf(`${writer.toString()}/${turn.toString()}`, 1 + (turn % 3));
    const outcome: AppendOutcome = await settled(log, own, batch, expected);
    if (!outcome.ok) throw new Error(`nobody else writes to ${own}: ${JSON.stringify(outcome, bigints)}`);
    expected = outcome.revision;
    written.push({ ids: batch.map(({ id }) => id), stream: own, outcome });
    written.push(await contend(log, `${writer.toString()}/${turn.toString()}/shared`));
  }
  return written;
}

async function settled(
  log: EventLog,
  stream: StreamName,
  batch: ReturnType<typeof batchOf>,
  expected: ExpectedRevision,
): Promise<AppendOutcome> {
  for (;;) {
    const outcome = await log.append(stream, batch, expected);
    if (outcome.ok || outcome.reason === 'conflict') return outcome;
    await nextTurn();
  }
}

async function contend(log: EventLog, name: string): Promise<Written> {
  const stream = streamName('object:shared/one');
  for (let attempt = 0; ; attempt += 1) {
    const last = await insist(() => log.readLast(stream));
    const batch = batchOf(`${name}/${attempt.toString()}`, 2);
    const outcome = await settled(log, stream, batch, last === undefined ? 'absent' : last.revision);
    if (outcome.ok) return { ids: batch.map(({ id }) => id), stream, outcome };
  }
}

/** Reads fail while the server is away, and are asked again. */
async function insist<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'LogUnavailableError') throw error;
      await nextTurn();
    }
  }
}

async function run(storm: Storm): Promise<number> {
  const store = await startEventStore();
  const log = openEventStoreLog({ url: store.url, clock: quickClock(50) });
  const reading = new AbortController();
  try {
    release(store, storm);
    const seen: RecordedEvent[] = [];
    const followed = (async () => {
      for await (const batch of log.subscribe({ after: logStart, signal: reading.signal })) seen.push(...batch);
    })();
    const written = (
      await Promise.all(Array.from({ length: storm.writers }, (_, writer) => write(log, storm, writer)))
    ).flat();
    store.faults.append = undefined;
    store.faults.read = undefined;
    const last = await insist(() => log.append(streamName('object:last/one'), batchOf('last', 1), 'absent'));
    const all = await insist(() => collect(log.readAll({ after: logStart })));
    while (seen.length < all.length)
      await Promise.race([
        nextTurn(),
        followed.then(() => {
          throw new Error('the subscription ended');
        }),
      ]);
    check(all, written);
    if (seen.some(({ id, position }, index) => all[index]?.id !== id || all[index].position !== position))
      throw new Error('the subscriber saw something else');
    if (!last.ok && last.reason !== 'unknown') throw new Error('the sky did not clear');
    return all.length;
  } finally {
    reading.abort();
    await log.close();
    await store.stop();
  }
}

/** Each acknowledged event stands once, where it was said to; positions grow, and revisions have no holes. */
function check(all: readonly RecordedEvent[], written: readonly Written[]): void {
  const byId = new Map<string, RecordedEvent>();
  const next = new Map<StreamName, number>();
  for (const [index, event] of all.entries()) {
    if (byId.has(event.id)) throw new Error(`${event.id} is there twice`);
    byId.set(event.id, event);
    if (event.position <= (all[index - 1]?.position ?? logStart)) throw new Error('positions do not grow');
    if (event.revision !== streamRevision(next.get(event.stream) ?? 0)) throw new Error(`${event.stream} has a hole`);
    next.set(event.stream, event.revision + 1);
  }
  for (const { ids, stream, outcome } of written) {
    const events = ids.map((id) => byId.get(id));
    if (events.some((event) => event?.stream !== stream)) throw new Error(`lost: ${ids.join(', ')} of ${stream}`);
    const last = events.at(-1);
    if (last?.revision !== outcome.revision || last.position !== outcome.position)
      throw new Error(`${String(last?.id)} is not where it was said to be`);
  }
}

function bigints(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

const [, , seed = '1', runs = '20'] = process.argv;
let events = 0;
let done = 0;
await fc.assert(
  fc.asyncProperty(storms, async (storm) => {
    const before = strays;
    events += await run(storm);
    done += 1;
    if (process.env['STORM_SHOWN'] !== undefined)
      process.stderr.write(
        `${done.toString()}: ${(strays - before).toString()} strays, ${storm.writers.toString()} writers\n`,
      );
  }),
  { seed: Number(seed), numRuns: Number(runs), endOnFailure: true },
);
process.stdout.write(
  `${done.toString()} storms, ${events.toString()} events, ${strays.toString()} stray errors outlived\n`,
);
process.exit(0);
