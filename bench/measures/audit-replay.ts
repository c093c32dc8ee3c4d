import type { Measure } from '../bench.ts';
import { expect, expectTotal, served } from '../subject/client.ts';
import { authorization } from '../subject/server.ts';
import { canReadUsage, untilIdle, usageOf } from '../subject/usage.ts';

type Result = {
  readonly kind: string;
  readonly equal?: boolean;
  readonly events?: number;
  readonly audit?: { readonly events: number };
};

const versions = 10;

/** Folds the whole log again while the server runs, and compares every read model with the result. */
export const auditReplay: Measure = {
  name: 'audit-replay',
  run: async (bench) => {
    const count = bench.scaled(100_000);
    return bench.withSubject(await bench.seeded(count, versions), async ({ url, pid }) => {
      await expectTotal(url, count);
      await served(url, '/apis/audit.svc.run/v1alpha1/events?limit=1');
      // After a start the server compares its tree with the log, and a reconciler visits all objects.
      await untilIdle(pid);
      const before = cpuSeconds(pid);
      const { tablesMs, allMs, last } = await replayed(url);
      const cpuUs = ((cpuSeconds(pid) - before) * 1_000_000) / (count * versions);
      const { kind, equal, events = 0, audit } = JSON.parse(last) as Result;
      expect('the kind of the last line, and whether all is equal', `${kind} ${String(equal)}`, 'Result true');
      expect('events of the audit indexes', (audit?.events ?? 0) >= count * versions, true);
      return [
        {
          measure: `${(count * versions).toLocaleString('en')} events: replay with comparison`,
          value: (events / tablesMs) * 1_000,
          unit: 'events/s',
          floor: 100_000,
          bound: 'value at least',
          note:
            `${((events / allMs) * 1_000).toFixed(0)} events/s with the audit indexes, in a second thread; ` +
            `${cpuUs.toFixed(0)} µs of CPU per event, over all threads`,
        },
      ];
    });
  },
};

function cpuSeconds(pid: number): number {
  return canReadUsage ? usageOf(pid).cpuSeconds : NaN;
}

/** The time until all read models except the audit indexes are compared, and the time until all are compared. */
async function replayed(url: string): Promise<{ tablesMs: number; allMs: number; last: string }> {
  const begunMs = performance.now();
  const answer = await fetch(`${url}/apis/audit.svc.run/v1alpha1/replays`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: '{}',
  });
  let [text, tablesMs] = ['', 0];
  for await (const chunk of answer.body ?? []) {
    text += Buffer.from(chunk).toString('utf8');
    if (tablesMs === 0 && text.includes('{"kind":"Compared"')) tablesMs = performance.now() - begunMs;
  }
  return { tablesMs, allMs: performance.now() - begunMs, last: text.trimEnd().split('\n').at(-1) ?? '' };
}
