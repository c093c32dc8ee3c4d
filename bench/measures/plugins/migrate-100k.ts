import { setTimeout as passes } from 'node:timers/promises';

import type { Bench, Measure } from '../../bench.ts';
import { expect } from '../../subject/client.ts';
import { headers } from '../../subject/server.ts';
import { createLinks, linksPath, linksPlugin, send, shownLinks } from './links.ts';

const rename =
  '({ spec: { title, ...spec }, ...link }) => ' +
  'title === undefined ? undefined : { ...link, spec: { ...spec, label: title } }';
const more = `migrations: [{ id: 'rename-title', type: link, up: ${rename} }],`;

/** An upgrade that renames a member of 100,000 stored objects by a migration, and reads of other clients meanwhile. */
export const migrate100k: Measure = {
  name: 'migrate-100k',
  run: async (bench) =>
    bench.withSubject(bench.newDataDir(), async ({ url }) => {
      const count = bench.scaled(100_000);
      await send(url, 'install', linksPlugin({ version: '1.0.0', member: 'title' }));
      await createLinks(bench, url, count);
      const before = await readP99(bench, url);
      await send(url, 'links/upgrade', linksPlugin({ version: '2.0.0', member: 'label', more }));
      const began = performance.now();
      const migrated = untilDone(url, count);
      const meanwhile: number[] = [];
      const isDone = migrated.then(
        () => true,
        () => true,
      );
      while (!(await Promise.race([isDone, passes(0, false)]))) meanwhile.push(await readP99(bench, url));
      await migrated;
      const seconds = (performance.now() - began) / 1_000;
      // The last round may have begun before the end of the migration.
      const p99 = meanwhile.length > 1 ? Math.max(...meanwhile.slice(0, -1)) : Math.max(...meanwhile);
      const name = `migration of ${count.toLocaleString('en')} objects`;
      return [
        { measure: name, value: count / seconds, unit: '/s', floor: 3_000, bound: 'value at least' },
        {
          measure: `${name}: GET p99`,
          value: p99,
          unit: 'ms',
          baseline: before,
          ratio: p99 / before,
          note: `the highest of ${String(meanwhile.length)} rounds; without the migration ${before.toFixed(1)} ms`,
        },
        {
          measure: `${name}: GET p99, times`,
          value: p99 / before,
          unit: '×',
          floor: 3,
          bound: 'value at most',
        },
      ];
    }),
};

async function readP99(bench: Bench, url: string): Promise<number> {
  const request = { method: 'GET', path: `${linksPath}/link-{m}`, headers } as const;
  const plan = { request, connections: 8, status: 200, warmUp: 100, requests: bench.scaled(10_000) };
  return (await bench.loader.http({ url, ...plan })).p99Ms;
}

async function untilDone(url: string, count: number): Promise<void> {
  for (;;) {
    const [migration] = (await shownLinks(url)).status?.migrations ?? [];
    if (migration?.phase === 'done') {
      expect('objects that were changed', migration.changed, count);
      return;
    }
    await passes(100);
  }
}
