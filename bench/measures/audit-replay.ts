import type { Measure } from '../bench.ts';
import { expect, expectTotal, send, served } from '../subject/client.ts';

type Result = {
  readonly kind: string;
  readonly equal?: boolean;
  readonly events?: number;
  readonly audit?: { readonly events: number };
};

const versions = 10;

/** Folds the whole log again beside the server, and compares every read model with the result. */
export const auditReplay: Measure = {
  name: 'audit-replay',
  run: async (bench) => {
    const count = bench.scaled(100_000);
    return bench.withSubject(await bench.seeded(count, versions), async ({ url }) => {
      await expectTotal(url, count);
      await served(url, '/apis/audit.svc.run/v1alpha1/events?limit=1');
      const begunMs = performance.now();
      const answer = await send(url, 'POST', '/apis/audit.svc.run/v1alpha1/replays', '{}');
      const tookMs = performance.now() - begunMs;
      const last = answer.toString('utf8').trimEnd().split('\n').at(-1) ?? '';
      const { kind, equal, events = 0, audit } = JSON.parse(last) as Result;
      expect('the last line', `${kind} ${String(equal)}`, 'Result true');
      expect('events of the audit indexes', (audit?.events ?? 0) >= count * versions, true);
      return [
        {
          measure: `${(count * versions).toLocaleString('en')} events: replay with comparison`,
          value: (events / tookMs) * 1_000,
          unit: 'events/s',
          floor: 100_000,
          bound: 'value at least',
        },
      ];
    });
  },
};
