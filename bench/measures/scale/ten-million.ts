import { cpSync } from 'node:fs';

import type { Measure } from '../../bench.ts';
import { compare } from '../../rounds.ts';
import { expectTotal } from '../../subject/client.ts';
import { heldWhile } from '../../subject/metrics.ts';
import { seed } from '../../subject/seed.ts';
import { canReadUsage, settledMemory } from '../../subject/usage.ts';
import { Creates } from '../writes/creates.ts';
import { loadPages } from './page-million.ts';

const mebibyte = 1_048_576;
const plan = { connections: 64, warmUp: 500 };

/**
 * Measures ten million objects: the start, a page by selector and sort, the memory within Node's default heap, the rate
 * of writes against the rate with 100,000 objects, and the longest block of the event loop. Takes most of an hour and
 * 40 GB of disk, so it runs only if `--only` names it.
 */
export const tenMillion: Measure = {
  name: 'ten-million',
  isOnDemand: true,
  run: async (bench) => {
    const count = bench.isQuick ? 20_000 : 10_000_000;
    const small = bench.scaled(100_000);
    const [dataDir, smallDir] = [bench.newDataDir(), bench.newDataDir()];
    console.error(`seeding ${count.toLocaleString('en')} objects …`);
    await seed(dataDir, count);
    // The first start folds the log.
    await bench.withSubject(dataDir, ({ url }) => expectTotal(url, count));
    cpSync(await bench.seeded(small), smallDir, { recursive: true });
    return bench.withSubject(dataDir, async (subject) =>
      bench.withSubject(smallDir, async (smallSubject) => {
        const held = canReadUsage ? await settledMemory(subject.pid) : Number.NaN;
        const creates = new Creates(bench, subject, { ...plan, requests: bench.scaled(20_000) });
        const fewer = new Creates(bench, smallSubject, { ...plan, requests: bench.scaled(20_000) });
        let p99Ms = Number.NaN;
        const pages = await heldWhile(subject.url, async () => {
          ({ p99Ms } = await loadPages(bench, subject.url, count));
        });
        const comparisons: Awaited<ReturnType<typeof compare>>[] = [];
        const writes = await heldWhile(subject.url, async () => {
          comparisons.push(await compare(bench.rounds, fewer.load, creates.load));
        });
        await expectTotal(subject.url, count + creates.made);
        await expectTotal(smallSubject.url, small + fewer.made);
        const of = `${count.toLocaleString('en')} objects`;
        const bound = 'value at most' as const;
        const hold = Math.max(pages.maxMs, writes.maxMs);
        return [
          { measure: `${of}: start to ready`, value: subject.startMs / 1_000, unit: 's', floor: 20, bound },
          { measure: `${of}: page of 20`, value: p99Ms, unit: 'ms p99', floor: 20, bound },
          { measure: `${of}: RssAnon`, value: held / mebibyte, unit: 'MiB', floor: 2_048, bound },
          ...comparisons.map((comparison) => ({
            measure: `${of}: POST create`,
            unit: '/s',
            ...comparison,
            floor: 0.8,
            note: `against ${small.toLocaleString('en')} objects`,
          })),
          { measure: `${of}: longest hold of the event loop`, value: hold, unit: 'ms', floor: 50, bound },
        ];
      }),
    );
  },
};
