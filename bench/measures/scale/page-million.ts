import type { Bench, Measure } from '../../bench.ts';
import type { LoadResult } from '../../load/http-load.ts';
import { expect, list } from '../../subject/client.ts';
import { headers } from '../../subject/server.ts';
import { tiers, widgetsPath } from '../../subject/widgets.ts';

const size = 20;
const selected = 'labelSelector=example.com/tier%3Dgold&sort=spec.size,desc';

/**
 * Pages of a million objects, selected by a label and sorted by another field, each with the total number. Measured
 * over one connection.
 */
export const pageMillion: Measure = {
  name: 'page-1m',
  run: async (bench) => {
    const count = bench.scaled(1_000_000);
    return bench.withSubject(await bench.seeded(count), async ({ url }) => {
      const total = count / tiers.length;
      const early = await loadPages(bench, url, count);
      const lastPage = Math.ceil(total / size);
      const last = await list(url, `${selected}&page=${lastPage.toString()}&size=${size.toString()}`);
      expect('objects of the last page', last.items.length, total - (lastPage - 1) * size);
      // Requests the last page for each other label value. None of these pages is in the cache.
      const deep: number[] = [];
      for (const tier of tiers.slice(1)) {
        const began = performance.now();
        const found = await list(
          url,
          `labelSelector=example.com/tier%3D${tier}` +
            `&sort=spec.size,asc&page=${lastPage.toString()}&size=${size.toString()}`,
        );
        deep.push(performance.now() - began);
        expect(`objects of tier ${tier}`, found.total, total);
      }
      const of = `page of ${size.toString()} of ${count.toLocaleString('en')}`;
      return [
        {
          measure: `${of}: p99`,
          value: early.p99Ms,
          unit: 'ms',
          floor: 10,
          bound: 'value at most',
          note: `p50 ${early.p50Ms.toFixed(2)} ms, max ${early.maxMs.toFixed(1)} ms`,
        },
        {
          measure: `${of}: last page`,
          value: Math.max(...deep),
          unit: 'ms',
          floor: 50,
          bound: 'value at most',
          note: 'the slowest of nine labels',
        },
      ];
    });
  },
};

/** Requests one page after another of a tenth of `count` objects. Checks the number and the order of a page first. */
export async function loadPages(bench: Bench, url: string, count: number): Promise<LoadResult> {
  const second = await list(url, `${selected}&page=2&size=${size.toString()}`);
  expect('objects that match', second.total, count / tiers.length);
  expect('objects of a page', second.items.length, size);
  const sizes = second.items.map(({ spec }) => spec.size);
  expect('order', JSON.stringify(sizes), JSON.stringify([...sizes].sort((left, right) => right - left)));
  // Each request uses another page, so no response comes from the cache.
  const path = `${widgetsPath}?${selected}&size=${size.toString()}&page={n}`;
  const load = { connections: 1, status: 200, warmUp: 0, requests: bench.scaled(1_000), first: 3 };
  return bench.loader.http({ url, request: { method: 'GET', path, headers }, ...load });
}
