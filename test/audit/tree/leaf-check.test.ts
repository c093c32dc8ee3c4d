/** Before a signature the leaves are compared with the log, so an event that a subscription left out is noticed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import t, { test } from 'tap';

import { AuditModels, auditedCategories as categories } from '../../../projections/audit/audit-models.ts';
import { AuditTables } from '../../../projections/audit/audit-tables.ts';
import { TreePart } from '../../../projections/audit/tree/tree-part.ts';
import { isLeafStream } from '../../../src/audit/proof/leaf-entry.ts';
import { LeafCheck, type LeafHindrance, type LeftOutError } from '../../../src/audit/tree/leaf-check.ts';
import { treeComparisonMs, treeComparisonWaitMs } from '../../../src/limits/audit.ts';
import { logPosition, logStart, streamName, type EventLog, type RecordedEvent } from '../../../src/log/log.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { settled } from '../../support/clocks/turns.ts';
import { collect, proposed } from '../../support/memory/log-events.ts';
import { MemoryLog } from '../../support/memory/memory-log.ts';

const dir = mkdtempSync(join(tmpdir(), 'ledgerplane-check-'));
const tree = new TreePart(() => 0);
const tables = new AuditTables(dir, [tree]);
const clock = new FakeClock();

t.teardown(async () => {
  await tables.close();
  rmSync(dir, { recursive: true, force: true });
});

/** A log with an event in each of the streams, in their order. */
async function logOf(streams: readonly string[]): Promise<MemoryLog> {
  const log = new MemoryLog();
  for (const [place, name] of streams.entries()) {
    const stream = streamName(name);
    const last = await log.readLast(stream);
    await log.append(stream, [proposed(`${name} ${String(place)}`)], last?.revision ?? 'absent');
  }
  return log;
}

async function eventsOf(log: EventLog): Promise<readonly RecordedEvent[]> {
  return collect(log.readAll({ after: logStart, categories }));
}

/** The tree of the events that a subscription has delivered; events that are no leaves do not change it. */
function fold(events: readonly RecordedEvent[]): void {
  tables.clear();
  const identity = () => ({ logId: 'the log', epoch: 0 });
  const leaves = events.filter(({ stream }) => isLeafStream(stream));
  new AuditModels({ tables, parts: [tree], identity, clock }).apply(leaves);
}

function check(log: Pick<EventLog, 'readAllBackward'>, leavesMax?: number): LeafCheck & { found: LeftOutError[] } {
  const found: LeftOutError[] = [];
  const bound = leavesMax === undefined ? {} : { leavesMax };
  const made = new LeafCheck({ log, categories, tree, clock, onLeftOut: (error) => found.push(error), ...bound });
  return Object.assign(made, { found });
}

const drawnStream = fc.constantFrom(
  'object:widgets/a',
  'object:widgets/b',
  'claim:serial/x',
  'access:node',
  'platform:log',
  'package:p',
  'lease:leader',
);

test('each event before a leaf that a subscription left out is noticed, and nothing else', async (t) => {
  const drawn = fc.record({
    streams: fc.array(drawnStream, { minLength: 8, maxLength: 40 }),
    omitted: fc.uniqueArray(fc.nat(19), { maxLength: 3 }),
    known: fc.oneof(fc.constant(0), fc.nat(12)),
    leavesMax: fc.integer({ min: 1, max: 12 }),
  });
  let noticed = 0;
  await fc.assert(
    fc.asyncProperty(drawn, async ({ streams, omitted, known, leavesMax }) => {
      const log = await logOf(streams);
      const events = await eventsOf(log);
      const delivered = events.filter((_event, place) => !omitted.includes(place));
      fold(delivered);
      const leaves = delivered.filter(({ stream }) => isLeafStream(stream));
      // The comparison of known leaves ends at the last one.
      const first = leaves[Math.min(known, leaves.length) - 1]?.position ?? logStart;
      const last = leaves.at(-1)?.position ?? logStart;
      const isLeftOut = (event: RecordedEvent): boolean =>
        !delivered.includes(event) && isLeafStream(event.stream) && event.position > first && event.position < last;
      const wanted = events.filter(isLeftOut);
      const checked = check(log, leavesMax);
      const found = await checked.hindrance(tree.size(), Math.min(known, tree.size()));
      if (wanted.length === 0) return found === undefined && checked.found.length === 0;
      noticed += 1;
      const [error] = checked.found;
      const again = await checked.hindrance(tree.size(), 0);
      return (
        found?.isFault === true &&
        again === found &&
        checked.found.length === 1 &&
        wanted.some(({ id }) => error?.message.includes(id) === true)
      );
    }),
    { numRuns: 300 },
  );
  t.ok(noticed > 50, String(noticed));
});

test('a log with another event than a leaf, or without one, is a fault for as long as it is so', async (t) => {
  const log = await logOf(['object:widgets/a', 'object:widgets/b', 'object:widgets/c']);
  const events = await eventsOf(log);
  fold(events);
  let shown: readonly RecordedEvent[] = events;
  const reads = {
    async *readAllBackward() {
      await Promise.resolve();
      yield shown.toReversed();
    },
  };
  const checked = check(reads);
  const [a, b, c] = events as [RecordedEvent, RecordedEvent, RecordedEvent];
  for (const [wrong, index] of [
    [[a, { ...b, data: Buffer.from('{}') }, c], 1],
    [[a, b], 2],
    [[b, c], 0],
    [[a, { ...c, position: b.position }, c], 1],
  ] as const) {
    shown = wrong;
    t.match(await checked.hindrance(3, 0), { isFault: true, detail: new RegExp(`leaf ${String(index)} `, 'u') });
  }
  shown = [...events, { ...c, position: logPosition(c.position + 1n) }];
  t.equal(await checked.hindrance(3, 0), undefined, 'an event after the compared leaves is none of them');
  t.strictSame(checked.found, []);
});

test('leaves are compared once, and those of a known tree not at all', async (t) => {
  const log = await logOf(Array.from({ length: 20 }, (_, place) => `object:widgets/${String(place)}`));
  fold(await eventsOf(log));
  let read = 0;
  const counted: Pick<EventLog, 'readAllBackward'> = {
    async *readAllBackward(options) {
      for await (const batch of log.readAllBackward(options)) {
        read += batch.length;
        yield batch;
      }
    },
  };
  const checked = check(counted, 3);
  t.equal(await checked.hindrance(20, 12), undefined);
  t.equal(read, 8);
  t.equal(await checked.hindrance(20, 0), undefined);
  t.equal(read, 8);
});

test('a long comparison is not waited for, and continues', async (t) => {
  const log = await logOf(Array.from({ length: 6 }, (_, place) => `object:widgets/${String(place)}`));
  fold(await eventsOf(log));
  const goOn: (() => void)[] = [];
  const slow: Pick<EventLog, 'readAllBackward'> = {
    async *readAllBackward(options) {
      await new Promise<void>((resolve) => goOn.push(resolve));
      yield* log.readAllBackward(options);
    },
  };
  const checked = check(slow, 2);
  const asked = async (): Promise<LeafHindrance | undefined> => {
    const found = checked.hindrance(6, 0);
    await settled();
    clock.advance(treeComparisonWaitMs);
    return found;
  };
  for (const compared of [0, 2, 4]) {
    const detail = `the tree is being compared with the log: ${String(compared)} of 6 leaves`;
    t.strictSame(await asked(), { detail, isFault: false });
    goOn.shift()?.();
    await settled();
  }
  t.equal(await checked.hindrance(6, 0), undefined);
});

test('a log that cannot be read is no fault, and the comparison is repeated', async (t) => {
  const log = await logOf(['object:widgets/a', 'object:widgets/b']);
  fold(await eventsOf(log));
  let isAway = true;
  const checked = check({
    readAllBackward: async function* (options) {
      await Promise.resolve();
      if (isAway) throw new Error('the log is away');
      yield* log.readAllBackward(options);
    },
  });
  const detail = 'the tree cannot be compared with the log: the log is away';
  t.strictSame(await checked.hindrance(2, 0), { detail, isFault: false });
  isAway = false;
  t.equal(await checked.hindrance(2, 0), undefined);
  await checked.stop();
});

test('each minute new leaves are compared, once the indexes are ready, and a fault is reported once', async (t) => {
  const log = await logOf(['object:widgets/a', 'object:widgets/b', 'claim:x', 'object:widgets/c']);
  const events = await eventsOf(log);
  fold(events.filter((_event, place) => place !== 2));
  const [faults, found]: [string[], LeftOutError[]] = [[], []];
  const onFault = (detail: string): void => void faults.push(detail);
  const onLeftOut = (error: LeftOutError): void => void found.push(error);
  const checked = new LeafCheck({ log, categories, tree, clock, onLeftOut, onFault });
  let isReady = false;
  checked.open(() => isReady);
  const minute = async (): Promise<void> => {
    clock.advance(treeComparisonMs);
    await settled();
  };
  await minute();
  t.strictSame(found, [], 'the indexes are being built');
  isReady = true;
  await minute();
  await minute();
  t.equal(found.length, 1);
  t.strictSame(faults, [found[0]?.message]);
  await checked.stop();
});
