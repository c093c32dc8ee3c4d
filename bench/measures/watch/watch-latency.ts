import type { Bench, Measure } from '../../bench.ts';
import type { Result } from '../../result.ts';
import { expectTotal } from '../../subject/client.ts';
import { createRequest } from '../../subject/widgets.ts';
import { firstFrame, watchPlan } from './watch-fan-out.ts';

/** Measures the time from the response to a write until the last watcher's message. */
export const watchLatency: Measure = {
  name: 'watch-latency',
  run: async (bench) => [
    await measure(bench, { sockets: 1_000, perSecond: 10, count: 200, floorMs: 40 }),
    await measure(bench, { sockets: 100, perSecond: 500, count: 10_000, floorMs: 10 }),
  ],
};

async function measure(
  bench: Bench,
  plan: { readonly sockets: number; readonly perSecond: number; readonly count: number; readonly floorMs: number },
): Promise<Result> {
  const { sockets, perSecond, floorMs } = plan;
  return bench.withSubject(bench.newDataDir(), async ({ url }) => {
    const count = bench.scaled(plan.count);
    const request = createRequest('d');
    // A warm-up, since compiled code is measured.
    await bench.loader.http({
      url,
      request: createRequest('warm'),
      connections: 16,
      status: 201,
      warmUp: 0,
      requests: bench.scaled(5_000),
    });
    const writes = { url, request, connections: 32, status: 201, perSecond, count };
    const result = await bench.loader.watch({ ...(await watchPlan(url, sockets)), changes: { kind: 'paced', writes } });
    firstFrame(result.sample);
    await expectTotal(url, count + bench.scaled(5_000));
    return {
      measure: `watch: response to last of ${sockets.toLocaleString('en')}`,
      value: result.p99Ms,
      unit: 'ms p99',
      floor: floorMs,
      bound: 'value at most',
      note:
        `${perSecond.toString()} writes/s, p50 ${result.p50Ms.toFixed(2)}, max ${result.maxMs.toFixed(1)}, sent to ` +
        `response p99 ${result.writeP99Ms.toFixed(1)}, sent to last p99 ${result.wholeP99Ms.toFixed(1)} ms`,
    };
  });
}
