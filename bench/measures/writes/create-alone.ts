import { flushRate } from '../../baselines/disk-flush.ts';
import type { Measure } from '../../bench.ts';
import { compare } from '../../rounds.ts';
import { expectTotal } from '../../subject/client.ts';
import { Creates } from './creates.ts';

/** POST over one connection: each create waits for the disk alone. Compared with the flushes of the same disk. */
export const createAlone: Measure = {
  name: 'create-alone',
  run: async (bench) => {
    const dataDir = bench.newDataDir();
    return bench.withSubject(dataDir, async (subject) => {
      const requests = bench.scaled(2_000);
      const creates = new Creates(bench, subject, { connections: 1, requests, warmUp: bench.scaled(500) });
      const flushes = (): Promise<number> => Promise.resolve(flushRate(dataDir, requests));
      const comparison = await compare(bench.rounds, flushes, creates.load);
      await expectTotal(subject.url, creates.made);
      const name = 'POST create, one connection';
      return [
        { measure: name, unit: '/s', ...comparison, floor: 0.6, note: 'against fdatasync of a page alone' },
        {
          measure: `${name}: CPU`,
          // The CPU seconds for 1,000 creates equal the CPU milliseconds for one create.
          value: creates.cpu(),
          unit: 'ms',
          floor: 0.4,
          bound: 'value at most',
          note: 'all threads of the server',
        },
      ];
    });
  },
};
