import { setTimeout as passes } from 'node:timers/promises';

import type { Measure } from '../../bench.ts';
import { expectTotal } from '../../subject/client.ts';
import { headers } from '../../subject/server.ts';

const plugin = '/apis/plugin.svc.run/v1alpha1/plugins/example';

/**
 * Disables and enables a plugin with 100,000 objects and six indexes. Measures the time from the request until the
 * plugin has started.
 */
export const pluginStart: Measure = {
  name: 'plugin-start',
  run: async (bench) => {
    const count = bench.scaled(100_000);
    return bench.withSubject(await bench.seeded(count), async ({ url }) => {
      const samples: number[] = [];
      for (let round = 0; round < bench.rounds; round += 1) {
        await switched(url, false);
        const began = performance.now();
        await switched(url, true);
        samples.push((performance.now() - began) / 1_000);
        await expectTotal(url, count);
      }
      samples.sort((left, right) => left - right);
      const value = samples[Math.floor(samples.length / 2)] ?? Number.NaN;
      return [
        {
          measure: `plugin with ${count.toLocaleString('en')} objects and 6 indexes: start`,
          value,
          unit: 's',
          floor: 2,
          bound: 'value at most',
          note: `the slowest of ${String(samples.length)}: ${(samples.at(-1) ?? Number.NaN).toFixed(2)} s`,
        },
      ];
    });
  },
};

async function switched(url: string, enabled: boolean): Promise<void> {
  const answer = await fetch(url + plugin, {
    method: 'PATCH',
    headers: { ...headers, 'Content-Type': 'application/merge-patch+json' },
    body: JSON.stringify({ spec: { enabled } }),
  });
  if (answer.status !== 200) throw new Error(`could not enable or disable the plugin: status ${String(answer.status)}`);
  for (const phase = enabled ? 'started' : 'stopped'; (await phaseOf(url)) !== phase;) await passes(5);
}

async function phaseOf(url: string): Promise<string | undefined> {
  const object = (await (await fetch(url + plugin, { headers })).json()) as {
    readonly status?: { readonly phase?: string };
  };
  return object.status?.phase;
}
