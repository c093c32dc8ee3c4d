import { setTimeout as passes } from 'node:timers/promises';

import type { Bench, Measure } from '../../bench.ts';
import type { Result } from '../../result.ts';
import { expect } from '../../subject/client.ts';
import { heldWhile } from '../../subject/metrics.ts';
import { createLinks, invalidIn, linksPlugin, send, shownLinks } from './links.ts';

/**
 * Measures an upgrade that renames a required member of 100,000 stored objects: the check before the upgrade, as a dry
 * run, and the check in the background after the upgrade.
 */
export const check100k: Measure = {
  name: 'check-100k',
  run: async (bench) =>
    bench.withSubject(bench.newDataDir(), async ({ url }) => {
      const count = bench.scaled(100_000);
      await send(url, 'install', linksPlugin({ version: '1.0.0', member: 'title' }));
      await createLinks(bench, url, count);
      const next = linksPlugin({ version: '2.0.0', member: 'label' });
      return [...(await checkBefore(bench, url, { next, count })), ...(await checkAfter(url, { next, count }))];
    }),
};

type Upgrade = { readonly next: Buffer; readonly count: number };

async function checkBefore(bench: Bench, url: string, { next, count }: Upgrade): Promise<readonly Result[]> {
  const samples: number[] = [];
  for (let round = 0; round < bench.rounds; round += 1) {
    const began = performance.now();
    const plugin = await send(url, 'links/upgrade', next, { dryRun: true });
    samples.push((performance.now() - began) / 1_000);
    expect('objects that break the schema', plugin.status?.upgrade?.objects?.[0]?.invalid, count);
  }
  samples.sort((left, right) => left - right);
  return [
    {
      measure: `upgrade of ${count.toLocaleString('en')} objects: dry run`,
      value: samples[Math.floor(samples.length / 2)] ?? Number.NaN,
      unit: 's',
      floor: 5,
      bound: 'value at most',
      note: `the slowest of ${String(samples.length)}: ${(samples.at(-1) ?? Number.NaN).toFixed(2)} s`,
    },
  ];
}

/** The check begins when the new version is served. Its result is reported a second after its end. */
async function checkAfter(url: string, { next, count }: Upgrade): Promise<readonly Result[]> {
  await send(url, 'links/upgrade', next);
  const began = performance.now();
  let seconds = Number.NaN;
  const held = await heldWhile(url, async () => {
    while (invalidIn(await shownLinks(url)) !== count) await passes(50);
    seconds = (performance.now() - began) / 1_000;
  });
  const name = `background check of ${count.toLocaleString('en')} objects`;
  return [
    { measure: name, value: seconds, unit: 's', floor: 5, bound: 'value at most', note: 'until it is reported' },
    { measure: `${name}: longest hold`, value: held.maxMs, unit: 'ms', floor: 20, bound: 'value at most' },
  ];
}
