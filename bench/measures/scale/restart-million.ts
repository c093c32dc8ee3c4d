import type { Measure } from '../../bench.ts';
import { expectTotal } from '../../subject/client.ts';
import { indexBytes } from '../../subject/table-bytes.ts';
import { canReadUsage, settledMemory } from '../../subject/usage.ts';
import { measureRestart } from './restarts.ts';

/** Measures a restart with a million objects, and the memory and the disk of one object in the indexes. */
export const restartMillion: Measure = {
  name: 'restart-1m',
  run: async (bench) => {
    const count = bench.isQuick ? 20_000 : 1_000_000;
    const dataDir = await bench.seeded(count);
    const of = `${count.toLocaleString('en')} objects`;
    const empty = canReadUsage
      ? await bench.withSubject(bench.newDataDir(), ({ pid }) => settledMemory(pid))
      : Number.NaN;
    const held = await bench.withSubject(dataDir, async ({ url, pid }) => {
      await expectTotal(url, count);
      return canReadUsage ? settledMemory(pid) : Number.NaN;
    });
    return [
      await measureRestart(bench, { dataDir, count, maxSeconds: 2.5 }),
      // An upper limit for the heap: the memory of the process minus the memory of an empty server.
      {
        measure: `${of}: memory of one in the indexes`,
        value: (held - empty) / count,
        unit: 'bytes',
        floor: 150,
        bound: 'value at most',
        note: 'RssAnon minus that of an empty server',
      },
      {
        measure: `${of}: disk of one in the indexes`,
        value: (await indexBytes(dataDir, count)) / count,
        unit: 'bytes',
        floor: 400,
        bound: 'value at most',
        note: 'pages of all tables but the rows, and the index entries in the rows',
      },
    ];
  },
};
