import { setTimeout as passes } from 'node:timers/promises';

import type { Measure } from '../bench.ts';
import { expectTotal, list, send } from '../subject/client.ts';
import { seed } from '../subject/seed.ts';
import { authorization } from '../subject/server.ts';
import { widgetsPath } from '../subject/widgets.ts';

/** DELETE of a collection of 100,000: how long until all are gone, and what a GET takes meanwhile. */
export const collect100k: Measure = {
  name: 'collect-100k',
  run: async (bench) => {
    const count = bench.scaled(100_000);
    const dataDir = bench.newDataDir();
    await seed(dataDir, count);
    return bench.withSubject(dataDir, async ({ url }) => {
      await expectTotal(url, count);
      const other = '/api/v1/users/admin';
      const quiet = await gets(url, other, async () => passes(2_000));
      const began = performance.now();
      let markedMs = 0;
      const meanwhile = await gets(url, other, async () => {
        await send(url, 'DELETE', widgetsPath);
        markedMs = performance.now() - began;
        while ((await list(url, 'size=1')).total > 0) await passes(20);
      });
      const goneMs = performance.now() - began;
      await expectTotal(url, 0);
      return [
        { measure: `${count.toLocaleString('en')} marked and gone`, value: goneMs / 1_000, unit: 's', note: `the DELETE was answered after ${(markedMs / 1_000).toFixed(1)} s` },
        { measure: 'GET meanwhile', value: meanwhile.p99Ms, unit: 'ms p99', note: `p50 ${meanwhile.p50Ms.toFixed(1)}, max ${meanwhile.maxMs.toFixed(0)} ms of ${meanwhile.count.toString()}; before, p99 ${quiet.p99Ms.toFixed(1)} ms` },
      ];
    });
  },
};

type Gets = { readonly count: number; readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number };

/** GETs one after the other until `task` has ended. */
async function gets(url: string, path: string, task: () => Promise<void>): Promise<Gets> {
  const ended = new AbortController();
  const running = task().finally(() => { ended.abort(); });
  const took: number[] = [];
  while (!ended.signal.aborted) {
    const began = performance.now();
    const response = await fetch(url + path, { headers: { authorization } });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`GET ${path} was answered ${response.status.toString()}`);
    took.push(performance.now() - began);
    await passes(5);
  }
  await running;
  took.sort((a, b) => a - b);
  const at = (share: number): number => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? NaN;
  return { count: took.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}
