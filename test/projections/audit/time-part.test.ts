/** The time index against a search of the log for one time, with clocks that go backwards, ahead, and stand. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { test, type Test } from 'tap';

import { AuditModels } from '../../../projections/audit/audit-models.ts';
import { AuditTables } from '../../../projections/audit/audit-tables.ts';
import { TimePart } from '../../../projections/audit/time-part.ts';
import { positionAt } from '../../../projections/replay/log-times.ts';
import { catchUp } from '../../../projections/runner.ts';
import { eventSchema } from '../../../src/command/event.ts';
import { logPosition, logStart, streamName, type LogPosition } from '../../../src/log/log.ts';
import { FakeClock } from '../../support/clocks/fake-clock.ts';
import { appended, proposed } from '../../support/memory/log-events.ts';
import { MemoryLog } from '../../support/memory/memory-log.ts';

const { signal } = new AbortController();
const begin = Date.parse('2026-01-01T00:00:00.000Z');

function folderOf(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'ledgerplane-times-'));
  t.teardown(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

type Opened = { readonly part: TimePart; readonly models: AuditModels; readonly tables: AuditTables };

function opened(dir: string): Opened {
  const identity = { logId: 'one', epoch: 0 };
  const part = new TimePart(() => identity);
  const tables = new AuditTables(dir, [part]);
  const models = new AuditModels({ tables, parts: [part], identity: () => identity, clock: new FakeClock() });
  return { part, models, tables };
}

/** Appends an event of its own stream with each of the times, all in one turn: so they are folded in batches. */
async function append(log: MemoryLog, times: readonly number[], from: number): Promise<void> {
  for (const [index, timeMs] of times.entries()) {
    const category = (from + index) % 5 === 4 ? 'claim' : 'object';
    const name = streamName(`${category}:widgets.example.com/w${String(from + index)}`);
    const metadata = Buffer.from(JSON.stringify({ time: new Date(timeMs).toISOString(), schema: eventSchema }));
    appended(await log.append(name, [{ ...proposed(name), metadata }], 'absent'));
  }
}

/** The search reads positions of events; the index knows only the one behind, so the answer may lie between two. */
async function lastEventAt(log: MemoryLog, position: LogPosition | undefined): Promise<LogPosition> {
  if (position === undefined) return logStart;
  let last = logStart;
  for await (const batch of log.readAll({ after: logStart, until: position, categories: ['object'] }))
    last = batch.at(-1)?.position ?? last;
  return last;
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 3 }) },
  { weight: 3, arbitrary: fc.integer({ min: -20, max: 2_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: -200_000, max: 200_000 }) },
);

test('a time leads to the position that a search of the log finds', async (t) => {
  const dir = folderOf(t);
  let run = 0;
  const steps = fc.array(fc.array(step, { minLength: 1, maxLength: 120 }), { minLength: 1, maxLength: 4 });
  const check = async (drawn: readonly (readonly number[])[]): Promise<void> => {
    run += 1;
    const own = join(dir, String(run));
    const log = new MemoryLog();
    const times: number[] = [];
    let [clock, index] = [begin, opened(own)];
    for (const some of drawn) {
      const added = some.map((one) => (clock += one));
      await append(log, added, times.length);
      times.push(...added);
      await catchUp(log, index.models, { signal });
      await index.tables.close();
      index = opened(own);
    }
    const head = index.models.position();
    for (const timeMs of new Set([begin - 300_000, ...times.flatMap((one) => [one - 1, one]), clock + 300_000])) {
      const found = await lastEventAt(log, index.part.positionAt(timeMs, head));
      const searched = await positionAt(log, timeMs, { until: head, onBatch: () => undefined });
      if (found !== searched)
        t.fail(
          `at ${String(timeMs - begin)}: ${found.toString()}, not ${searched.toString()}: ${JSON.stringify(drawn)}`,
        );
    }
    for (let position = 1n; position <= head; position += 1n) {
      const timeMs = index.part.timeAt(logPosition(position));
      const back = timeMs === undefined ? logStart : (index.part.positionAt(timeMs, head) ?? logStart);
      if (timeMs !== undefined && back < position) t.fail(`${position.toString()} is not reached at its own time`);
      const earlier = timeMs === undefined ? undefined : index.part.positionAt(timeMs - 1, head);
      if (earlier !== undefined && earlier >= position) t.fail(`${position.toString()} is reached before its time`);
    }
    await index.tables.close();
  };
  await fc.assert(fc.asyncProperty(steps, check), { numRuns: 40 });
});

test('times over many blocks, and a clock that was a day ahead', async (t) => {
  const log = new MemoryLog();
  const { part, models, tables } = opened(folderOf(t));
  const day = 86_400_000;
  const times = Array.from(
    { length: 1_200 },
    (_, index) => begin + index * 10 + (index >= 300 && index < 900 ? day : 0),
  );
  await append(log, times, 0);
  await catchUp(log, models, { signal });
  const head = models.position();
  t.equal(part.positionAt(begin - 1, head), undefined, 'before the first event');
  t.equal(part.positionAt(begin, head), logPosition(1n));
  t.equal(part.positionAt(begin + 2_000, head), logPosition(201n));
  // The events of the wrong clock have the time of the last one before them.
  t.equal(part.positionAt(begin + 2_990, head), logPosition(900n));
  t.equal(part.positionAt(begin + day, head), head, 'a time that no event reaches');
  t.equal(part.positionAt(begin + day, logPosition(700n)), logPosition(700n), 'not beyond the head');
  t.equal(part.timeAt(logStart), undefined, 'before the first event');
  t.equal(part.timeAt(logPosition(201n)), begin + 2_000);
  t.equal(part.timeAt(logPosition(700n)), begin + 2_980);
  t.equal(part.timeAt(head), begin + 11_980);
  await tables.close();
});
