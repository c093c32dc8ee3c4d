import type { Measure } from '../../bench.ts';
import type { RequestTemplate } from '../../load/template.ts';
import { expect, get } from '../../subject/client.ts';
import { seededName } from '../../subject/seed.ts';
import { headers } from '../../subject/server.ts';
import { widgetsPath } from '../../subject/widgets.ts';
import { inTheMiddle, middleOf, middleVersion } from './middle.ts';

/** Reads objects as of the middle of a million events, in scattered order, one request after another. */
export const getAt: Measure = {
  name: 'get-at',
  run: async (bench) => {
    const middle = await middleOf(bench);
    return bench.withSubject(middle.dataDir, async ({ url }) => {
      const at = (await middle.position(url)).toString();
      expect(
        'version of the first object',
        (await get(url, `${seededName(0)}?at=${at}`)).metadata.version,
        middleVersion,
      );
      const last = `${seededName(middle.objects - 1)}?at=${at}`;
      expect('version of the last object', (await get(url, last)).metadata.version, middleVersion);
      const first = 1_000;
      // A quick run has only 10,000 objects, and requests them in the order of their names.
      const name = middle.objects === 100_000 ? `${seededName(0).slice(0, -5)}{s}` : `${seededName(0).slice(0, -4)}{n}`;
      const path = `${widgetsPath}/${name}?at=${at}`;
      const request: RequestTemplate = { method: 'GET', path, headers };
      const load = async (connections: number) =>
        bench.loader.http({
          url,
          request,
          connections,
          status: 200,
          warmUp: 500,
          requests: bench.scaled(20_000),
          first,
        });
      const { p50Ms, p99Ms } = await load(1);
      const many = await load(64);
      return [
        {
          measure: inTheMiddle(middle, 'GET'),
          unit: 'ms p99',
          value: p99Ms,
          floor: 10,
          bound: 'value at most',
          note: `p50 ${p50Ms.toFixed(2)} ms; ${many.perSecond.toFixed(0)} /s over 64 connections`,
        },
      ];
    });
  },
};
