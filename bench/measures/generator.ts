import { bareNode } from '../baselines/baseline.ts';
import type { Measure } from '../bench.ts';
import { headers } from '../subject/server.ts';

/** Measures the load generator against bare Node. The generator must be far faster than everything that it measures. */
export const generator: Measure = {
  name: 'generator',
  run: async (bench) => {
    const server = await bareNode();
    const load = () =>
      bench.loader.http({
        url: server.url,
        request: { method: 'GET', path: '/', headers },
        connections: 64,
        status: 200,
        warmUp: 2_000,
        requests: bench.scaled(60_000),
      });
    const best = Math.max((await load()).perSecond, (await load()).perSecond);
    server.close();
    return [
      { measure: 'load generator on bare node:http', value: best, unit: '/s', floor: 12_000, bound: 'value at least' },
    ];
  },
};
