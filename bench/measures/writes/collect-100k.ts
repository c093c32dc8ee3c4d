import { setTimeout as passes } from 'node:timers/promises';

import type { Measure } from '../../bench.ts';
import type { Result } from '../../result.ts';
import { expectTotal, list, send } from '../../subject/client.ts';
import { readMetrics } from '../../subject/metrics.ts';
import { seed } from '../../subject/seed.ts';
import { authorization } from '../../subject/server.ts';
import { createRequest, widgetsPath } from '../../subject/widgets.ts';

/**
 * Measures a DELETE of a collection: the time until all objects are deleted, and the latency of a GET during the
 * deletion. In the second case each object has a unique value, so its claim must be released too.
 */
export const collect100k: Measure = {
  name: 'collect-100k',
  run: async (bench) => {
    const [count, unique] = [bench.scaled(100_000), bench.scaled(20_000)];
    const dataDir = bench.newDataDir();
    await seed(dataDir, count);
    return [
      ...(await bench.withSubject(dataDir, async ({ url }) => collected(url, count, ''))),
      ...(await bench.withSubject(bench.newDataDir(), async ({ url }) => {
        await bench.loader.http({
          url,
          request: createRequest('u', { serial: true }),
          connections: 64,
          status: 201,
          warmUp: 0,
          requests: unique,
        });
        return collected(url, unique, ', with serials');
      })),
    ];
  },
};

async function collected(url: string, count: number, which: string): Promise<readonly Result[]> {
  await expectTotal(url, count);
  const quiet = await gets(url, other, async () => passes(2_000));
  // The first request of this metric starts the server's measurement.
  await send(url, 'GET', '/metrics');
  const began = performance.now();
  let markedMs = 0;
  const meanwhile = await gets(url, other, async () => {
    await send(url, 'DELETE', widgetsPath);
    markedMs = performance.now() - began;
    while ((await list(url, 'size=1')).total > 0) await passes(20);
  });
  const goneMs = performance.now() - began;
  let now = await readProgress(url);
  let heldMs = now.heldMs;
  for (; now.claims > 0; now = await readProgress(url)) {
    heldMs = Math.max(heldMs, now.heldMs);
    await passes(100);
  }
  const tidyMs = performance.now() - began;
  return [
    {
      measure: `${count.toLocaleString('en')} objects deleted${which}`,
      value: goneMs / 1_000,
      unit: 's',
      note:
        `the response to the DELETE came after ${(markedMs / 1_000).toFixed(1)} s, claims were released after ` +
        `${(tidyMs / 1_000).toFixed(1)} s`,
    },
    {
      measure: '… GET meanwhile',
      value: meanwhile.p99Ms,
      unit: 'ms p99',
      note:
        `p50 ${meanwhile.p50Ms.toFixed(1)}, max ${meanwhile.maxMs.toFixed(0)} ms of ${meanwhile.count.toString()}; ` +
        `before, p99 ${quiet.p99Ms.toFixed(1)} ms`,
    },
    { measure: '… longest hold of the event loop', value: heldMs, unit: 'ms' },
  ];
}

/** An object that is not deleted. */
const other = '/api/v1alpha1/users/admin';

/** The number of claims to be released, and the longest block of the event loop since the last call. */
async function readProgress(url: string): Promise<{ readonly claims: number; readonly heldMs: number }> {
  const metric = await readMetrics(url);
  return {
    claims: metric('ledgerplane_reconcile_queue_depth{controller="claims"}'),
    heldMs: metric('ledgerplane_event_loop_lag_seconds{quantile="1"}') * 1_000,
  };
}

type Gets = { readonly count: number; readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number };

/** Sends one GET after another until `task` has ended. */
async function gets(url: string, path: string, task: () => Promise<void>): Promise<Gets> {
  const ended = new AbortController();
  const running = task().finally(() => {
    ended.abort();
  });
  const took: number[] = [];
  while (!ended.signal.aborted) {
    const began = performance.now();
    const response = await fetch(url + path, { headers: { authorization } });
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`GET ${path} returned the status ${response.status.toString()}`);
    took.push(performance.now() - began);
    await passes(5);
  }
  await running;
  took.sort((a, b) => a - b);
  const at = (share: number): number => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? NaN;
  return { count: took.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}
