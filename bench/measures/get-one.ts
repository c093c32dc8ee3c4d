import { koaFixed } from '../baselines/baseline.ts';
import type { Measure } from '../bench.ts';
import type { RequestTemplate } from '../load/template.ts';
import { compare } from '../rounds.ts';
import { expect, send } from '../subject/client.ts';
import { headers } from '../subject/server.ts';
import { widgetText, widgetsPath } from '../subject/widgets.ts';

/** GET of one object over 64 connections, against Koa with the same bytes. */
export const getOne: Measure = {
  name: 'get-one',
  run: async (bench) =>
    bench.withSubject(bench.newDataDir(), async ({ url }) => {
      const path = `${widgetsPath}/measured`;
      const widget = widgetText({ name: 'measured', size: '1', tier: 'gold', batch: '1' });
      await send(url, 'POST', widgetsPath, widget);
      const bytes = await send(url, 'GET', path);
      const baseline = await koaFixed(bytes);
      const request: RequestTemplate = { method: 'GET', path, headers };
      const requests = bench.scaled(40_000);
      const load = async (target: string): Promise<number> => {
        const result = await bench.loader.http({
          url: target,
          request,
          connections: 64,
          status: 200,
          warmUp: 500,
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
      const note = `${bytes.length.toString()} bytes`;
      return [{ measure: 'GET one object, 64 connections', unit: '/s', ...comparison, floor: 0.85, note }];
    }),
};
