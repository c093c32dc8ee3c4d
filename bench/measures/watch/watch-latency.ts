import type { Bench, Measure } from '../../bench.ts';
import type { Result } from '../../result.ts';
import { expectTotal } from '../../subject/client.ts';
import { createRequest } from '../../subject/widgets.ts';
import { firstFrame, watchPlan } from './watch-fan-out.ts';

/**
 * Measures the time from sending a write until the last watcher's message, and from the response to the write until
 * this message.
 */
export const watchLatency: Measure = {
  name: 'watch-latency',
  run: async (bench) => [
    ...(await measure(bench, { sockets: 1_000, perSecond: 10, count: 200, floorsMs: { sent: 15, answered: 40 } })),
    ...(await measure(bench, { sockets: 100, perSecond: 500, count: 10_000, floorsMs: { answered: 10 } })),
  ],
};

type LatencyPlan = {
  readonly sockets: number;
  readonly perSecond: number;
  readonly count: number;
  readonly floorsMs: { readonly sent?: number; readonly answered: number };
};

async function measure(bench: Bench, plan: LatencyPlan): Promise<readonly Result[]> {
  const { sockets, perSecond, floorsMs } = plan;
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
    const of = `last of ${sockets.toLocaleString('en')}`;
    const bound = 'value at most' as const;
    return [
      {
        measure: `watch: write sent to ${of}`,
        value: result.wholeP99Ms,
        unit: 'ms p99',
        ...(floorsMs.sent === undefined ? {} : { floor: floorsMs.sent, bound }),
        note: `${perSecond.toString()} writes/s; sent to response p99 ${result.writeP99Ms.toFixed(1)} ms`,
      },
      {
        measure: `watch: response to ${of}`,
        value: result.p99Ms,
        unit: 'ms p99',
        floor: floorsMs.answered,
        bound,
        note: `p50 ${result.p50Ms.toFixed(2)}, max ${result.maxMs.toFixed(1)} ms`,
      },
    ];
  });
}
