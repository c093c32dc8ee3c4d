import type { Bench, Measure } from '../bench.ts';
import type { RequestTemplate } from '../load/template.ts';
import { compare } from '../rounds.ts';
import { expect, expectTotal } from '../subject/client.ts';
import { authorization, headers, type Subject } from '../subject/server.ts';
import { usageOf } from '../subject/usage.ts';
import { createRequest, widgetsPath } from '../subject/widgets.ts';

const objects = 500;
const plain = 'application/json';
const table = `${plain};as=Table;v=v1;g=meta.k8s.io`;

/** The CPU time of a table of 500 objects, against the plain list: computed for each request, and from the cache. */
export const table500: Measure = {
  name: 'table-500',
  run: async (bench) =>
    bench.withSubject(bench.newDataDir(), async (subject) => {
      const { url } = subject;
      const request = createRequest('t');
      await bench.loader.http({ url, request, connections: 16, status: 201, warmUp: 0, requests: objects });
      await expectTotal(url, objects);
      // A request with a resourceVersion is not answered from the cache.
      const fresh = `${widgetsPath}?resourceVersion=1`;
      const made = await compare(
        bench.rounds,
        () => cpuOf(bench, subject, { path: fresh, accept: plain }),
        () => cpuOf(bench, subject, { path: fresh, accept: table }),
      );
      const cached = await compare(
        bench.rounds,
        () => cpuOf(bench, subject, { path: widgetsPath, accept: plain }),
        () => cpuOf(bench, subject, { path: widgetsPath, accept: table }),
      );
      const { value, baseline, ratio } = cached;
      return [
        { measure: 'Table of 500, CPU', unit: 'ms', ...made, floor: 6, bound: 'value at most' },
        {
          measure: 'Table of 500 from the cache, CPU',
          unit: '× the plain list',
          value: ratio,
          floor: 2,
          bound: 'value at most',
          note: `${value.toFixed(3)} ms against ${baseline.toFixed(3)} ms`,
        },
      ];
    }),
};

type Listing = { readonly path: string; readonly accept: string };

/** The milliseconds of the server's CPU time for one response. */
async function cpuOf(bench: Bench, { url, pid }: Subject, { path, accept }: Listing): Promise<number> {
  const response = await fetch(url + path, { headers: { authorization, accept } });
  const body = (await response.json()) as { readonly items?: readonly unknown[]; readonly rows?: readonly unknown[] };
  expect('rows or items', (body.rows ?? body.items)?.length ?? 0, objects);
  const requests = bench.scaled(1_000);
  const request: RequestTemplate = { method: 'GET', path, headers: { ...headers, Accept: accept } };
  const before = usageOf(pid).cpuSeconds;
  await bench.loader.http({ url, request, connections: 4, status: 200, warmUp: 0, requests });
  return ((usageOf(pid).cpuSeconds - before) * 1_000) / requests;
}
