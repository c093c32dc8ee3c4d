import { setTimeout as passes } from 'node:timers/promises';

import type { Measure } from '../../bench.ts';
import { expect } from '../../subject/client.ts';
import { authorization } from '../../subject/server.ts';
import { createLinks, linksPath, linksPlugin, send, shownLinks } from './links.ts';

const rename =
  '({ spec: { title, ...spec }, ...link }) => ' +
  'title === undefined ? undefined : { ...link, spec: { ...spec, label: title } }';
const more = `migrations: [{ id: 'rename-title', type: link, up: ${rename} }],`;

/**
 * Measures an upgrade that renames a member of 100,000 stored objects by a migration, and the reads of other clients
 * during the migration.
 */
export const migrate100k: Measure = {
  name: 'migrate-100k',
  run: async (bench) =>
    bench.withSubject(bench.newDataDir(), async ({ url }) => {
      const count = bench.scaled(100_000);
      await send(url, 'install', linksPlugin({ version: '1.0.0', member: 'title' }));
      await createLinks(bench, url, count);
      const before = await readsWhile(url, passes(bench.scaled(5_000)));
      await send(url, 'links/upgrade', linksPlugin({ version: '2.0.0', member: 'label', more }));
      const began = performance.now();
      const migrated = untilDone(url, count);
      const meanwhile = await readsWhile(url, migrated);
      await migrated;
      const seconds = (performance.now() - began) / 1_000;
      const name = `migration of ${count.toLocaleString('en')} objects`;
      return [
        { measure: name, value: count / seconds, unit: '/s', floor: 3_000, bound: 'value at least' },
        {
          measure: `${name}: GET p99`,
          value: meanwhile.p99Ms / before.p99Ms,
          unit: '× that before',
          floor: 3,
          bound: 'value at most',
          note: `${meanwhile.p99Ms.toFixed(1)} ms of ${String(meanwhile.count)}, before ${before.p99Ms.toFixed(1)} ms`,
        },
      ];
    }),
};

const readIntervalMs = 5;

/** Reads one object every few milliseconds, whether or not earlier reads have ended, until `work` ends. */
async function readsWhile(
  url: string,
  work: Promise<unknown>,
): Promise<{ readonly p99Ms: number; readonly count: number }> {
  const samples: number[] = [];
  const reads: Promise<void>[] = [];
  const over = new AbortController();
  const ended = work.finally(() => {
    over.abort();
  });
  const read = async (name: string): Promise<void> => {
    const began = performance.now();
    const answer = await fetch(`${url}${linksPath}/${name}`, { headers: { authorization } });
    await answer.arrayBuffer();
    samples.push(performance.now() - began);
  };
  for (let index = 0; !over.signal.aborted; index += 1) {
    reads.push(read(`link-${String(index % 1_000)}`));
    await passes(readIntervalMs);
  }
  await Promise.all([ended, ...reads]);
  samples.sort((left, right) => left - right);
  return { p99Ms: samples[Math.floor(samples.length * 0.99)] ?? Number.NaN, count: samples.length };
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
