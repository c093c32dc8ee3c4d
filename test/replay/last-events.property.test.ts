/** The fold that writes each object once has the same tables as the one that writes each event. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { test } from 'tap';

import { LmdbTables } from '../../projections/lmdb-tables.ts';
import { LmdbView } from '../../projections/lmdb-view.ts';
import { ObjectModels } from '../../projections/object-models.ts';
import { compareTables, noTables, type CountedTables } from '../../projections/replay/compare-tables.ts';
import { LastEvents } from '../../projections/replay/last-events.ts';
import { rebuild, type Share } from '../../projections/replay/rebuild.ts';
import { scannedLog } from '../../projections/replay/scanned-log.ts';
import { systemClock } from '../../src/base/clock.ts';
import { logPosition } from '../../src/log/log.ts';
import type { Difference } from '../../src/read/replay.ts';
import { must } from '../../src/base/unreachable.ts';
import { drawnSteps } from './drawn-log.ts';
import { writtenLog } from './written-log.ts';

const onBatch = (): void => undefined;

function differenceOf(one: LmdbView, other: LmdbView, counted: CountedTables): Difference | undefined {
  const [left, right] = [one.snapshot(), other.snapshot()];
  const steps = compareTables(left, right, counted);
  for (;;) {
    const step = steps.next();
    if (step.done !== true) continue;
    left.release();
    right.release();
    return step.value;
  }
}

test('the fold of last events has the tables of the fold of all events, wherever both stop', async (t) => {
  const counted = noTables();
  const draws = fc.tuple(drawnSteps, fc.nat(), fc.constantFrom(1, 1_200, Infinity));
  await fc.assert(
    fc.asyncProperty(draws, async ([steps, stop, bytesMax]) => {
      const dir = mkdtempSync(join(tmpdir(), 'ledgerplane-last-'));
      const log = await writtenLog(join(dir, 'log'), steps);
      const [slowDir, fastDir] = [join(dir, 'slow'), join(dir, 'fast')];
      const [slowTables, fastTables] = [new LmdbTables(slowDir), new LmdbTables(fastDir)];
      const identity = () => log.identity();
      const slow = new ObjectModels({ tables: slowTables, identity, types: () => undefined, clock: systemClock });
      const fast = new LastEvents(fastTables, identity, bytesMax);
      const views = [new LmdbView(slowDir), new LmdbView(fastDir)] as const;
      const head = await log.head();
      const scanned = must(scannedLog(log), 'it is an embedded log');
      try {
        // Positions within an append are among them.
        for (const until of [logPosition(1n + (BigInt(stop) % head)), head]) {
          await rebuild(log, slow, { until, onBatch });
          let share: Share | undefined;
          await fast.rebuild(scanned, { until, onBatch: (written) => void (share = written ?? share) });
          t.equal(share?.done, share?.all, 'the share that is written reaches the whole');
          t.strictSame(differenceOf(...views, counted), undefined);
          t.strictSame([fast.position(), fast.folded()], [slow.position(), slow.folded()]);
        }
      } finally {
        for (const view of views) await view.close();
        await slowTables.close();
        await fastTables.close();
        await log.close();
        rmSync(dir, { recursive: true, force: true });
      }
    }),
    { numRuns: Number(process.env['REPLAY_RUNS'] ?? 25) },
  );
  for (const [table, entries] of Object.entries(counted)) t.ok(entries > 0, `${table} is compared`);
});
