import type { Measure } from '../bench.ts';
import type { RequestTemplate } from '../load/template.ts';
import { expect, get, send } from '../subject/client.ts';
import { authorization, headers } from '../subject/server.ts';
import { widgetText, widgetsPath } from '../subject/widgets.ts';

const page = 50;

/** Requests the first page of the history of an object with 1,000 versions, newest first, one request after another. */
export const history: Measure = {
  name: 'history',
  run: async (bench) =>
    bench.withSubject(bench.newDataDir(), async ({ url }) => {
      const versions = 1_000;
      await send(url, 'POST', widgetsPath, widgetText({ name: 'h-0', size: '0', tier: 'gold', batch: '1' }));
      const request: RequestTemplate = {
        method: 'PUT',
        path: `${widgetsPath}/h-{c}`,
        headers,
        body: widgetText({ name: 'h-{c}', size: '{m}', tier: 'gold', batch: '1', title: '{n}', version: '{k}' }),
      };
      await bench.loader.http({ url, request, connections: 1, status: 200, warmUp: 0, requests: versions - 1 });
      expect('versions', (await get(url, 'h-0')).metadata.version, versions - 1);
      const path = `${widgetsPath}/h-0/history?sort=position,desc&limit=${String(page)}`;
      const answer = await fetch(url + path, { headers: { authorization } });
      expect('entries', ((await answer.json()) as { readonly items: readonly unknown[] }).items.length, page);
      const asked: RequestTemplate = { method: 'GET', path, headers };
      const { p50Ms, p99Ms, perSecond } = await bench.loader.http({
        url,
        request: asked,
        connections: 1,
        status: 200,
        warmUp: 100,
        requests: bench.scaled(2_000),
      });
      return [
        {
          measure: 'first 50 of 1,000 versions',
          unit: 'ms p99',
          value: p99Ms,
          floor: 10,
          bound: 'value at most',
          note: `p50 ${p50Ms.toFixed(1)} ms, ${perSecond.toFixed(0)} /s`,
        },
      ];
    }),
};
