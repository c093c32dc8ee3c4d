import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { setTimeout as passes } from 'node:timers/promises';

import type { Measure } from '../bench.ts';
import { expectTotal, list, send } from '../subject/client.ts';
import { authorization } from '../subject/server.ts';
import { createRequest, widgetText, widgetsPath } from '../subject/widgets.ts';

const perSecond = 200;

/** From sending a DELETE to the DELETED that a watcher gets, of objects without finalizers. */
export const deletion: Measure = {
  name: 'delete',
  run: async (bench) => bench.withSubject(bench.newDataDir(), async ({ url }) => {
    const count = bench.scaled(4_000);
    await bench.loader.http({ url, request: createRequest('warm'), connections: 16, status: 201, warmUp: 0, requests: bench.scaled(2_000) });
    for (let first = 0; first < count; first += 32) {
      await Promise.all(Array.from({ length: Math.min(32, count - first) }, async (_, index) => send(url, 'POST', widgetsPath, widgetText({ name: `d-${(first + index).toString()}`, size: '1', tier: 'gold', batch: '1' }))));
    }
    const { total, metadata: { resourceVersion } } = await list(url, 'size=1');
    const watching = new AbortController();
    const response = await fetch(`${url}${widgetsPath}?watch=true&resourceVersion=${resourceVersion}`, { headers: { authorization }, signal: watching.signal });
    const sent = new Map<string, number>();
    const took: number[] = [];
    const followed = follow(response, sent, took, count);
    const began = performance.now();
    const deleted: Promise<unknown>[] = [];
    for (let index = 0; index < count; index += 1) {
      const name = `d-${index.toString()}`;
      const wait = began + index * 1_000 / perSecond - performance.now();
      if (wait > 0) await passes(wait);
      sent.set(name, performance.now());
      deleted.push(send(url, 'DELETE', `${widgetsPath}/${name}`));
    }
    await Promise.all(deleted);
    const sending = (performance.now() - began) / 1_000;
    await Promise.race([followed, passes(10_000).then(() => { throw new Error(`${(count - took.length).toString()} of ${count.toString()} were not seen to go`); })]);
    watching.abort();
    await expectTotal(url, total - count);
    took.sort((a, b) => a - b);
    const at = (share: number): number => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? NaN;
    return [{ measure: 'DELETE to gone', value: at(0.99), unit: 'ms p99', floor: 50, bound: 'value at most', note: `${(count / sending).toFixed(0)} deletes/s, p50 ${at(0.5).toFixed(1)}, max ${at(1).toFixed(1)} ms` }];
  }),
};

async function follow(response: Response, sent: ReadonlyMap<string, number>, took: number[], count: number): Promise<void> {
  if (response.body === null) throw new Error('the watch has no body');
  const lines = createInterface({ input: Readable.fromWeb(response.body as never) });
  // The watch is cut off at the end.
  lines.on('error', () => undefined);
  for await (const line of lines) {
    if (!line.includes('"DELETED"')) continue;
    const frame = JSON.parse(line.replace(/^data: /u, '')) as { readonly type: string; readonly object: { readonly metadata: { readonly name: string } } };
    if (frame.type !== 'DELETED') continue;
    took.push(performance.now() - (sent.get(frame.object.metadata.name) ?? NaN));
    if (took.length === count) return;
  }
}
