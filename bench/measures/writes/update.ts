import { koaEcho } from '../../baselines/baseline.ts';
import type { Measure } from '../../bench.ts';
import type { RequestTemplate } from '../../load/template.ts';
import { compare } from '../../rounds.ts';
import { expect, get, send } from '../../subject/client.ts';
import { headers } from '../../subject/server.ts';
import { widgetText, widgetsPath } from '../../subject/widgets.ts';

const connections = 64;

/** PUT with a version as the precondition. Each connection updates its own object repeatedly. */
export const update: Measure = {
  name: 'update',
  run: async (bench) =>
    bench.withSubject(bench.newDataDir(), async ({ url }) => {
      for (let index = 0; index < connections; index += 1) {
        await send(
          url,
          'POST',
          widgetsPath,
          widgetText({ name: `u-${index.toString()}`, size: '0', tier: 'gold', batch: '1' }),
        );
      }
      const request: RequestTemplate = {
        method: 'PUT',
        path: `${widgetsPath}/u-{c}`,
        headers,
        body: widgetText({ name: 'u-{c}', size: '{m}', tier: 'gold', batch: '1', title: '{n}', version: '{k}' }),
      };
      const plan = { request, connections, status: 200, warmUp: 500, requests: bench.scaled(20_000) };
      const baseline = await koaEcho();
      let first = 1;
      let firstOf: readonly number[] = [];
      const comparison = await compare(
        bench.rounds,
        async () => (await bench.loader.http({ ...plan, url: baseline.url })).perSecond,
        async () => {
          const result = await bench.loader.http({ ...plan, url, first, firstOf });
          first = result.next;
          firstOf = result.nextOf;
          return result.perSecond;
        },
      );
      baseline.close();
      for (const [index, version] of firstOf.entries())
        expect(`version of u-${index.toString()}`, (await get(url, `u-${index.toString()}`)).metadata.version, version);
      return [{ measure: 'PUT update with a version, 64', unit: '/s', ...comparison, floor: 0.3 }];
    }),
};
