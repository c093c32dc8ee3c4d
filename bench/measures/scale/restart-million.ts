import type { Measure } from '../../bench.ts';
import { expectTotal } from '../../subject/client.ts';
import { canReadUsage, settledMemory } from '../../subject/usage.ts';

/** Measures a restart with a million objects, and the memory of one object. */
export const restartMillion: Measure = {
  name: 'restart-1m',
  run: async (bench) => {
    const count = bench.scaled(1_000_000);
    const dataDir = await bench.seeded(count);
    const empty = canReadUsage
      ? await bench.withSubject(bench.newDataDir(), ({ pid }) => settledMemory(pid))
      : Number.NaN;
    return bench.withSubject(dataDir, async ({ url, pid, startMs }) => {
      await expectTotal(url, count);
      const held = canReadUsage ? await settledMemory(pid) : Number.NaN;
      return [
        {
          measure: `${count.toLocaleString('en')} objects: restart to ready`,
          value: startMs / 1_000,
          unit: 's',
          floor: 5,
          bound: 'value at most',
        },
        // An upper limit for the heap: the memory of the process minus the memory of an empty server.
        {
          measure: `${count.toLocaleString('en')} objects: memory`,
          value: (held - empty) / count,
          unit: 'bytes per object',
          floor: 500,
          bound: 'value at most',
          note: 'RssAnon minus that of an empty server',
        },
      ];
    });
  },
};
