import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as passes } from 'node:timers/promises';

import type { Measure } from '../../bench.ts';
import { writePaced } from '../../load/paced-writes.ts';
import { expectTotal, list } from '../../subject/client.ts';
import { authorization, headers } from '../../subject/server.ts';
import { canReadUsage, usageOf } from '../../subject/usage.ts';
import { createRequest, widgetsPath } from '../../subject/widgets.ts';

const perSecond = 200;

/** Measures the time from sending a DELETE to the watcher's DELETED event, for objects without finalizers. */
export const deletion: Measure = {
  name: 'delete',
  run: async (bench) =>
    bench.withSubject(bench.newDataDir(), async ({ url, pid }) => {
      const count = bench.scaled(4_000);
      await bench.loader.http({
        url,
        request: createRequest('warm'),
        connections: 16,
        status: 201,
        warmUp: 0,
        requests: bench.scaled(2_000),
      });
      await bench.loader.http({
        url,
        request: createRequest('d'),
        connections: 16,
        status: 201,
        warmUp: 0,
        requests: count,
      });
      const {
        total,
        metadata: { resourceVersion },
      } = await list(url, 'size=1');
      const watching = new AbortController();
      const response = await fetch(`${url}${widgetsPath}?watch=true&resourceVersion=${resourceVersion}`, {
        headers: { authorization },
        signal: watching.signal,
      });
      const sent = new Map<string, number>();
      const took: number[] = [];
      const followed = follow(response, sent, took, count);
      const cpuSeconds = (): number => (canReadUsage ? usageOf(pid).cpuSeconds : Number.NaN);
      const before = cpuSeconds();
      const began = performance.now();
      const request = { method: 'DELETE', path: `${widgetsPath}/d-{n}`, headers } as const;
      const answers = await writePaced({ url, request, connections: 64, status: 200, perSecond, count }, (index) => {
        sent.set(`d-${index.toString()}`, performance.now());
      });
      const sending = (performance.now() - began) / 1_000;
      await Promise.race([
        followed,
        passes(10_000).then(() => {
          throw new Error(`${(count - took.length).toString()} of ${count.toString()} DELETED events have not arrived`);
        }),
      ]);
      const cpuMs = ((cpuSeconds() - before) * 1_000) / count;
      watching.abort();
      await expectTotal(url, total - count);
      const [deleted, marked] = [quantiles(took), quantiles(answers.map(({ tookMs }) => tookMs))];
      return [
        {
          measure: 'DELETE at 200/s: sent to gone',
          value: deleted(0.99),
          unit: 'ms p99',
          floor: 8,
          bound: 'value at most',
          note:
            `${(count / sending).toFixed(0)} deletes/s, p50 ${deleted(0.5).toFixed(1)}, ` +
            `max ${deleted(1).toFixed(1)} ms; response p50 ${marked(0.5).toFixed(1)}, ` +
            `p99 ${marked(0.99).toFixed(1)} ms`,
        },
        {
          measure: 'DELETE at 200/s: CPU of one',
          value: cpuMs,
          unit: 'ms',
          floor: 0.8,
          bound: 'value at most',
          note: 'all threads of the server, with the watch',
        },
      ];
    }),
};

async function follow(
  response: Response,
  sent: ReadonlyMap<string, number>,
  took: number[],
  count: number,
): Promise<void> {
  if (response.body === null) throw new Error('the watch has no body');
  const lines = createInterface({ input: Readable.fromWeb(response.body as never) });
  // The watch is aborted at the end, which is no error.
  lines.on('error', () => undefined);
  for await (const line of lines) {
    if (!line.includes('"DELETED"')) continue;
    const frame = JSON.parse(line.replace(/^data: /u, '')) as {
      readonly type: string;
      readonly object: { readonly metadata: { readonly name: string } };
    };
    if (frame.type !== 'DELETED') continue;
    took.push(performance.now() - (sent.get(frame.object.metadata.name) ?? NaN));
    if (took.length === count) return;
  }
}

function quantiles(samples: number[]): (share: number) => number {
  samples.sort((a, b) => a - b);
  return (share) => samples[Math.min(samples.length - 1, Math.floor(samples.length * share))] ?? NaN;
}
