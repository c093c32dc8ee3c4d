import type { Measure } from '../../bench.ts';
import type { Result } from '../../result.ts';
import { expectTotal } from '../../subject/client.ts';
import { canReadUsage, settledMemory } from '../../subject/usage.ts';
import { createRequest } from '../../subject/widgets.ts';

const mebibyte = 1_048_576;

/**
 * Writes 100,000 objects over HTTP. Measures the server's memory after the writes and after a restart, and the time of
 * the restart.
 */
export const memory100k: Measure = {
  name: 'memory-100k',
  run: async (bench) => {
    const count = bench.scaled(100_000);
    const dataDir = bench.newDataDir();
    const results: Result[] = [];
    const held = (when: string, bytes: number): Result => ({
      measure: `${count.toLocaleString('en')} objects: RssAnon ${when}`,
      value: bytes / mebibyte,
      unit: 'MiB',
      floor: 180,
      bound: 'value at most',
    });
    await bench.withSubject(dataDir, async ({ url, pid }) => {
      await bench.loader.http({
        url,
        request: createRequest('m'),
        connections: 64,
        status: 201,
        warmUp: 0,
        requests: count,
      });
      await expectTotal(url, count);
      if (canReadUsage) results.push(held('after writing', await settledMemory(pid)));
    });
    await bench.withSubject(dataDir, async ({ url, pid, startMs }) => {
      results.push({
        measure: `${count.toLocaleString('en')} objects: restart to ready`,
        value: startMs / 1_000,
        unit: 's',
        floor: 1,
        bound: 'value at most',
      });
      await expectTotal(url, count);
      if (canReadUsage) results.push(held('after restart', await settledMemory(pid)));
    });
    return results;
  },
};
