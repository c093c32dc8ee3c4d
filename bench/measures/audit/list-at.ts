import { statSync } from 'node:fs';
import { join } from 'node:path';

import type { Bench, Measure } from '../../bench.ts';
import type { LoadResult } from '../../load/http-load.ts';
import type { RequestTemplate } from '../../load/template.ts';
import type { Result } from '../../result.ts';
import { expect, list, type Listed } from '../../subject/client.ts';
import { heldWhile } from '../../subject/metrics.ts';
import { headers, type Subject } from '../../subject/server.ts';
import { seededSize } from '../../subject/seed.ts';
import { untilIdle } from '../../subject/usage.ts';
import { tiers, widgetsPath } from '../../subject/widgets.ts';
import { inTheMiddle, middleOf, middleVersion, untilServed, type Middle } from './middle.ts';

const pageSize = 20;
const holdMsMax = 20;
const query =
  `labelSelector=example.com/tier%3Dgold&fieldSelector=spec.size%3E500&sort=spec.size,desc` +
  `&limit=${String(pageSize)}`;

/** Lists pages of 20 of 100,000 objects as of the middle of a million events, by a label and an indexed field. */
export const listAt: Measure = {
  name: 'list-at',
  run: async (bench) => {
    const middle = await middleOf(bench);
    const file = join(middle.dataDir, 'audit-models', 'tables.mdb');
    let bytesBefore = NaN;
    const results = await bench.withSubject(middle.dataDir, async ({ url, pid }) => {
      const position = await middle.position(url);
      // After a start the server compares its tree with the log, and its reconcilers visit all objects.
      await untilIdle(pid);
      bytesBefore = statSync(file).size;
      return [await built(url, position, middle), ...(await listed(bench, { url, position }, middle))];
    });
    const bytes = (statSync(file).size - bytesBefore) / middle.events;
    return [
      ...results,
      { measure: 'columns: disk per event', unit: 'bytes', value: bytes, note: '5 indexes, 2 labels' },
    ];
  },
};

/** Measures the first list of a type, for which the server reads the columns of the type from the log. */
async function built(url: string, position: number, middle: Middle): Promise<Result> {
  const begunMs = performance.now();
  const { maxMs } = await heldWhile(url, async () => {
    await untilServed(`${url}${widgetsPath}?at=${String(position)}&${query}`);
  });
  return {
    measure: `columns of ${middle.events.toLocaleString('en')} events built: longest hold`,
    unit: 'ms',
    value: maxMs,
    floor: holdMsMax,
    bound: 'value at most',
    note: `${((performance.now() - begunMs) / 1_000).toFixed(1)} s`,
  };
}

async function listed(
  bench: Bench,
  { url, position }: Pick<Subject, 'url'> & { readonly position: number },
  middle: Middle,
): Promise<readonly Result[]> {
  expectPage(await list(url, `at=${String(position)}&${query}`), middle);
  const load = async (first: number): Promise<LoadResult> => {
    // Each request uses another position.
    const request: RequestTemplate = { method: 'GET', path: `${widgetsPath}?at={n}&${query}`, headers };
    return bench.loader.http({ url, request, connections: 1, status: 200, warmUp: 20, requests: 1_000, first });
  };
  const loads: LoadResult[] = [];
  const { maxMs } = await heldWhile(url, async () => {
    loads.push(await load(position));
  });
  // Also measures positions at which only some of the objects existed.
  const parts: string[] = [];
  const begin = position - middle.events / 2;
  for (const share of [0.25, 0.5, 1]) {
    const { p50Ms } = await load(Math.floor(begin + middle.objects * share));
    parts.push(`${p50Ms.toFixed(1)} ms of ${(middle.objects * share).toLocaleString('en')}`);
  }
  const [{ p50Ms, p99Ms } = { p50Ms: NaN, p99Ms: NaN }] = loads;
  return [
    {
      measure: inTheMiddle(middle, `LIST of ${String(pageSize)} of ${middle.objects.toLocaleString('en')} objects`),
      unit: 'ms p99',
      value: p99Ms,
      floor: 50,
      bound: 'value at most',
      note: `p50 ${p50Ms.toFixed(1)} ms; p50 as of the creation: ${parts.join(', ')}`,
    },
    {
      measure: '… longest hold of the event loop',
      unit: 'ms',
      value: maxMs,
      floor: holdMsMax,
      bound: 'value at most',
    },
  ];
}

function expectPage({ items, metadata }: Listed, { objects }: Middle): void {
  const sizes = Array.from({ length: objects }, (_none, index) => index)
    .filter((index) => tiers[index % tiers.length] === 'gold')
    .map((index) => seededSize(index, middleVersion))
    .filter((size) => size > 500)
    .sort((left, right) => right - left);
  expect('sizes', items.map(({ spec }) => spec.size).join(), sizes.slice(0, pageSize).join());
  expect('remaining objects', metadata.remainingItemCount, sizes.length - pageSize);
}
