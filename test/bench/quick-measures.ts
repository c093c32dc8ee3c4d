import type { Test } from 'tap';

import type { Result } from '../../bench/result.ts';
import { canReadUsage } from '../../bench/subject/usage.ts';
import { figuresOf, runBench } from './run-bench.ts';

const fromProc = /CPU|RssAnon|memory|cores/u;

/**
 * Runs measures with `--quick`. A measure checks its own results, so the exit code shows that all measured work was
 * done. Times and rates are not compared, since they depend on the machine.
 */
export async function measureQuickly(
  t: Test,
  figures: Readonly<Record<string, readonly string[]>>,
): Promise<readonly Result[]> {
  const run = await runBench(['--quick', '--json', '--only', Object.keys(figures).join(',')], {
    BENCH_EVENTSTORE_URL: undefined,
  });
  const results = figuresOf(run);
  t.strictSame(results.map(({ measure }) => measure).sort(), Object.values(figures).flat().sort());
  for (const { measure, value } of results) {
    if (!canReadUsage && fromProc.test(measure)) continue;
    t.ok(Number.isFinite(value), `${measure} has a value`);
  }
  if (canReadUsage) t.equal(run.code, 0, run.err);
  return results;
}
