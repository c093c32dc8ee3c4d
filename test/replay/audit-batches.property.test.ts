/** The audit indexes that a replay folds in large batches are those that a server folds in small ones. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { test } from 'tap';

import { AuditModels, auditedCategories } from '../../projections/audit/audit-models.ts';
import { AuditTables } from '../../projections/audit/audit-tables.ts';
import { AuditView } from '../../projections/audit/audit-view.ts';
import { EventPart } from '../../projections/audit/event-part.ts';
import { TimePart } from '../../projections/audit/time-part.ts';
import { TreePart } from '../../projections/audit/tree/tree-part.ts';
import { VersionPart } from '../../projections/audit/version-part.ts';
import { compareAudit, type CountedParts } from '../../projections/replay/compare-audit.ts';
import { rebuildInBatches } from '../../projections/replay/rebuild-in-batches.ts';
import { wholeAppends } from '../../projections/replay/rebuild.ts';
import { systemClock } from '../../src/base/clock.ts';
import { atOnce } from '../../src/base/steps.ts';
import type { FoundedLog } from '../../src/log/founded-log.ts';
import { logPosition, logStart, type EventLog, type LogPosition } from '../../src/log/log.ts';
import { drawnSteps } from './drawn-log.ts';
import { writtenLog } from './written-log.ts';

const onBatch = (): void => undefined;

type Opened = { readonly models: AuditModels; readonly tables: AuditTables };

function opened(dir: string, log: FoundedLog): Opened {
  const identity = () => log.identity();
  const versions = new VersionPart({ identity });
  const parts = [
    new TreePart(() => identity().epoch),
    versions,
    new TimePart(identity),
    new EventPart({ identity, versions }),
  ];
  const tables = new AuditTables(dir, parts);
  return { tables, models: new AuditModels({ tables, parts, identity, clock: systemClock }) };
}

/** Folds the log as a server does, in commits of at most `eventsMax` events. */
async function follow({ models }: Opened, log: EventLog, until: LogPosition, eventsMax: number): Promise<void> {
  const categories = auditedCategories;
  for await (const batch of log.readAll({ after: models.position(), until, categories })) {
    const whole = wholeAppends(batch);
    for (let from = 0, end = 0; from < whole.length; from = end) {
      end = Math.min(whole.length, from + eventsMax);
      while (whole[end - 1]?.endsAppend === false) end += 1;
      models.apply(whole.slice(from, end));
    }
  }
}

function withoutScan(log: EventLog): Pick<EventLog, 'readAll' | 'readAt'> {
  return { readAll: (options) => log.readAll(options), readAt: async (position) => log.readAt(position) };
}

const draws = fc.record({
  steps: drawnSteps,
  stop: fc.nat(),
  eventsMax: fc.integer({ min: 1, max: 20 }),
  bytesMax: fc.constantFrom(1, 1_500, Infinity),
  isScanned: fc.boolean(),
});

test('the fold in large batches has the tables of the fold in small ones, wherever both stop', async (t) => {
  const counted: CountedParts = {};
  await fc.assert(
    fc.asyncProperty(draws, async ({ steps, stop, eventsMax, bytesMax, isScanned }) => {
      const dir = mkdtempSync(join(tmpdir(), 'ledgerplane-audit-batches-'));
      const log = await writtenLog(join(dir, 'log'), steps);
      const [small, large] = [opened(join(dir, 'small'), log), opened(join(dir, 'large'), log)];
      const views = ['small', 'large'].map((name) => new AuditView(join(dir, name), small.tables.names()));
      const head = await log.head();
      try {
        for (const until of [logPosition(1n + (BigInt(stop) % head)), head]) {
          await follow(small, log, until, eventsMax);
          const read = isScanned ? log : withoutScan(log);
          const options = { until, onBatch, categories: auditedCategories, bytesMax, indexedUntil: logStart };
          await rebuildInBatches(read, large.models, options);
          t.strictSame(large.models.checkpoint(), small.models.checkpoint());
          const [left, right] = views.map((view) => view.snapshot());
          if (left === undefined || right === undefined) throw new Error('both are open');
          t.strictSame(atOnce(compareAudit([left, right], small.tables.names(), counted)), undefined);
          left.release();
          right.release();
        }
      } finally {
        for (const view of views) await view.close();
        await small.tables.close();
        await large.tables.close();
        await log.close();
        rmSync(dir, { recursive: true, force: true });
      }
    }),
    { numRuns: Number(process.env['REPLAY_RUNS'] ?? 25) },
  );
  for (const part of ['tree', 'versions', 'times', 'events']) t.ok((counted[part] ?? 0) > 0, `${part} is compared`);
});
