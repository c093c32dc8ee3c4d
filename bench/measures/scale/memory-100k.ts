import type { Measure } from '../../bench.ts';
import type { Result } from '../../result.ts';
import { expectTotal } from '../../subject/client.ts';
import { canReadUsage, highestMemory, settledMemory } from '../../subject/usage.ts';
import { createRequest } from '../../subject/widgets.ts';
import { measureRestart } from './restarts.ts';

const mebibyte = 1_048_576;

/**
 * Writes 100,000 objects over HTTP. Measures the server's highest memory during the writes, its memory after a restart,
 * and the time of the restart.
 */
export const memory100k: Measure = {
  name: 'memory-100k',
  run: async (bench) => {
    const count = bench.scaled(100_000);
    const dataDir = bench.newDataDir();
    const held = (when: string, bytes: number, floor: number): Result => ({
      measure: `${count.toLocaleString('en')} objects: RssAnon ${when}`,
      value: bytes / mebibyte,
      unit: 'MiB',
      floor,
      bound: 'value at most',
    });
    const written = await bench.withSubject(dataDir, async ({ url, pid }) => {
      const write = async (): Promise<void> => {
        const load = { connections: 64, status: 201, warmUp: 0, requests: count };
        await bench.loader.http({ url, request: createRequest('m'), ...load });
      };
      const bytes = canReadUsage ? await highestMemory(pid, write) : Number.NaN;
      if (!canReadUsage) await write();
      await expectTotal(url, count);
      return bytes;
    });
    const restart = await measureRestart(bench, { dataDir, count, maxSeconds: 0.3 });
    const restarted = await bench.withSubject(dataDir, async ({ url, pid }) => {
      await expectTotal(url, count);
      return canReadUsage ? settledMemory(pid) : Number.NaN;
    });
    return [held('while they are written', written, 150), restart, held('after a restart', restarted, 100)];
  },
};
