import { koaFixed } from '../baselines/baseline.ts';
import type { Measure } from '../bench.ts';
import type { RequestTemplate } from '../load/template.ts';
import { compare } from '../rounds.ts';
import { expect, expectTotal, send } from '../subject/client.ts';
import { headers } from '../subject/server.ts';
import { createRequest, widgetsPath } from '../subject/widgets.ts';

/** LIST of 500 objects, against Koa, which sends the same bytes from one buffer. */
export const list500: Measure = {
  name: 'list-500',
  run: async (bench) =>
    bench.withSubject(bench.newDataDir(), async ({ url }) => {
      await bench.loader.http({
        url,
        request: createRequest('l'),
        connections: 16,
        status: 201,
        warmUp: 0,
        requests: 500,
      });
      await expectTotal(url, 500);
      const bytes = await send(url, 'GET', widgetsPath);
      expect(
        'objects listed',
        (JSON.parse(bytes.toString('utf8')) as { readonly items: readonly unknown[] }).items.length,
        500,
      );
      const baseline = await koaFixed(bytes);
      const request: RequestTemplate = { method: 'GET', path: widgetsPath, headers };
      const requests = bench.scaled(3_000);
      const load = async (target: string): Promise<number> => {
        const result = await bench.loader.http({
          url: target,
          request,
          connections: 16,
          status: 200,
          warmUp: 100,
          requests,
        });
        expect('bytes of all responses', result.bodyBytes, requests * bytes.length);
        return result.perSecond;
      };
      const comparison = await compare(
        bench.rounds,
        () => load(baseline.url),
        () => load(url),
      );
      baseline.close();
      return [
        {
          measure: 'LIST 500 objects',
          unit: '/s',
          ...comparison,
          floor: 0.8,
          note: `${bytes.length.toString()} bytes`,
        },
      ];
    }),
};
