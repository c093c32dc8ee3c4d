import { test } from 'tap';

import { Coverage } from './coverage.ts';
import { simulate } from './simulation.ts';
import { TablesPool } from './tables-pool.ts';

const only = process.env['SIM_SEED'];
const seeds = only === undefined ? Array.from({ length: Number(process.env['SIM_SEEDS'] ?? 2_000) }, (_, place) => place + 1) : [Number(only)];
const traced = process.env['SIM_TRACE'] === '1';

test('several nodes over one faulty log are one service', async (t) => {
  const coverage = new Coverage();
  const tables = new TablesPool();
  t.teardown(() => tables.close());
  let steps = 0;
  for (const seed of seeds) {
    const run = await simulate(seed, coverage, { traced, tables });
    steps += run.steps;
    if (traced) for (const line of run.trace) t.comment(line);
    if (run.error !== undefined) {
      const { message, stack = '' } = run.error as Error;
      t.fail(`${message}\nSIM_SEED=${String(seed)} npx tap run --disable-coverage dist/test/simulation/simulation.test.js`, { stack });
      return;
    }
  }
  t.comment(`${String(seeds.length)} seeds, ${String(steps)} steps`);
  for (const line of coverage.lines) t.comment(line);
  t.pass(`${String(seeds.length)} seeds`);
});
