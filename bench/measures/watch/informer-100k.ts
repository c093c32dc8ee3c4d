import { cpSync } from 'node:fs';

import { connect } from '../../../src/client/client.ts';
import type { Bench, Measure } from '../../bench.ts';
import { writePaced } from '../../load/paced-writes.ts';
import type { Result } from '../../result.ts';
import { expect, expectTotal } from '../../subject/client.ts';
import { authorization } from '../../subject/server.ts';
import { createRequest } from '../../subject/widgets.ts';

const perSecond = 2_000;
const type = { group: 'example.com', version: 'v1alpha1', plural: 'widgets' };

/**
 * Measures an informer of the client: the time until the informer contains 100,000 objects, and its delay at 2,000
 * changes per second.
 */
export const informer100k: Measure = {
  name: 'informer-100k',
  run: async (bench) => {
    const count = bench.scaled(100_000);
    const dataDir = bench.newDataDir();
    cpSync(await bench.seeded(count), dataDir, { recursive: true });
    return bench.withSubject(dataDir, async ({ url }) => [
      await filled(bench, url, count),
      await behind(url, count, bench.scaled(40_000)),
    ]);
  },
};

function client(url: string): ReturnType<typeof connect> {
  // All requests of the bench authenticate with a password.
  return connect({
    url,
    fetch: async (target, init) =>
      fetch(target, { ...init, headers: { ...(init.headers as Record<string, string>), authorization } }),
  });
}

async function filled(bench: Bench, url: string, count: number): Promise<Result> {
  const seconds: number[] = [];
  for (let round = 0; round <= bench.rounds; round += 1) {
    const began = performance.now();
    const informer = client(url).informer(type);
    await informer.synced;
    if (round > 0) seconds.push((performance.now() - began) / 1_000);
    expect('objects of the informer', informer.size, count);
    informer.stop();
  }
  seconds.sort((one, other) => one - other);
  return {
    measure: `informer: ${count.toLocaleString('en')} objects`,
    value: seconds[seconds.length >> 1] ?? Number.NaN,
    unit: 's',
    spread: [seconds[0] ?? Number.NaN, seconds.at(-1) ?? Number.NaN],
    floor: 3,
    bound: 'value at most',
  };
}

async function behind(url: string, present: number, count: number): Promise<Result> {
  const informer = client(url).informer(type, {
    indexes: { tier: ({ metadata }) => metadata.labels?.['example.com/tier'] },
  });
  await informer.synced;
  const seen = new Map<string, number>();
  const { promise, resolve } = last();
  informer.on({
    add: ({ metadata }) => {
      if (!metadata.name.startsWith('i-')) return;
      if (seen.has(metadata.resourceVersion)) throw new Error('a change was delivered twice');
      seen.set(metadata.resourceVersion, performance.now());
      if (seen.size === count) resolve();
    },
  });
  const request = createRequest('i');
  const answers = await writePaced({ url, request, connections: 32, status: 201, perSecond, count });
  await promise;
  await expectTotal(url, present + count);
  expect('objects of the informer', informer.size, present + count);
  informer.stop();
  const late = answers
    .map(({ version, at }) => Math.max(0, (seen.get(version.toString()) ?? Infinity) - at))
    .sort((one, other) => one - other);
  const at = (share: number): number => late[Math.min(late.length - 1, Math.floor(late.length * share))] ?? Number.NaN;
  return {
    measure: `informer: behind ${perSecond.toLocaleString('en')} changes/s`,
    value: at(0.99),
    unit: 'ms p99',
    floor: 100,
    bound: 'value at most',
    note: `from the response to the handler; p50 ${at(0.5).toFixed(2)}, max ${at(1).toFixed(1)} ms`,
  };
}

function last(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let settle = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return {
    promise,
    resolve: () => {
      settle();
    },
  };
}
