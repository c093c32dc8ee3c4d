import type { Measure } from '../../bench.ts';
import { expectTotal } from '../../subject/client.ts';
import { headers } from '../../subject/server.ts';
import { canReadUsage, memoryGrowth } from '../../subject/usage.ts';
import { widgetsPath } from '../../subject/widgets.ts';

const mebibyte = 1_048_576;

/** LIST of 100,000 objects in one response. The response is streamed, so memory must not grow with its length. */
export const list100k: Measure = {
  name: 'list-100k',
  run: async (bench) => {
    const count = bench.scaled(100_000);
    return bench.withSubject(await bench.seeded(count), async ({ url, pid }) => {
      await expectTotal(url, count);
      const list = async () =>
        bench.loader.http({
          url,
          request: { method: 'GET', path: widgetsPath, headers },
          connections: 1,
          status: 200,
          warmUp: 0,
          requests: 5,
        });
      const { result, bytes } = canReadUsage
        ? await memoryGrowth(pid, list)
        : { result: await list(), bytes: Number.NaN };
      if (result.bodyBytes < 5 * count * 500)
        throw new Error(
          `five lists of ${count.toString()} objects must be larger than ${result.bodyBytes.toString()} bytes`,
        );
      const of = `LIST ${count.toLocaleString('en')} objects`;
      return [
        {
          measure: `${of}: time`,
          value: result.p50Ms / 1_000,
          unit: 's',
          floor: 0.5,
          bound: 'value at most',
          note:
            `the slowest ${(result.maxMs / 1_000).toFixed(2)} s, ` +
            `${Math.round(result.bodyBytes / 5 / mebibyte).toString()} MiB`,
        },
        {
          measure: `${of}: memory growth`,
          value: bytes / mebibyte,
          unit: 'MiB',
          floor: 16,
          bound: 'value at most',
          note: 'growth of RssAnon to its highest value',
        },
      ];
    });
  },
};
