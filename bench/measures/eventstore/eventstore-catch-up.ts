import { logStart } from '../../../src/log/log.ts';
import { RawClient } from '../../baselines/raw-client.ts';
import type { Bench, Measure } from '../../bench.ts';
import { compare } from '../../rounds.ts';
import { expect, expectTotal } from '../../subject/client.ts';
import { startEventStore } from '../../subject/event-store.ts';
import { withLog, type LogAt } from '../../../test/support/memory/event-log.ts';
import { appendWidgets } from '../../subject/seed.ts';

/** The start of a node without read models on a log of many objects, against a subscription of only the driver. */
export const eventStoreCatchUp: Measure = {
  name: 'eventstore-catch-up',
  run: async (bench) => {
    const count = bench.scaled(50_000);
    const store = await startEventStore();
    const raw = new RawClient(store.url);
    try {
      const founded = await bench.start(bench.newDataDir(), { eventLog: store });
      await founded.stop();
      console.error(`seeding ${count.toLocaleString('en')} objects …`);
      const events = await withLog(store, async (log) => {
        await appendWidgets(log, count);
        let all = 0;
        for await (const batch of log.readAll({ after: logStart })) all += batch.length;
        return all;
      });
      const comparison = await compare(
        bench.rounds,
        async () => (await raw.subscribe(store.prefix, events)).perSecond,
        async () => events / (await catchUpSeconds(bench, store, count)),
      );
      return [
        {
          measure: `EventStoreDB: catch-up, ${count.toLocaleString('en')} objects`,
          unit: 'events/s',
          ...comparison,
          ...(store.isReal ? { floor: 0.65 } : {}),
          note: `${store.name}; against a subscription of the driver alone with the same filter`,
        },
      ];
    } finally {
      raw.close();
      await store.stop();
    }
  },
};

/** The time of a first start minus the time of the next start, which folds no events and does all other work. */
async function catchUpSeconds(bench: Bench, eventLog: LogAt, count: number): Promise<number> {
  const dataDir = bench.newDataDir();
  const first = await bench.withSubject(
    dataDir,
    async ({ url, startMs }) => {
      await expectTotal(url, count);
      return startMs;
    },
    { eventLog },
  );
  const next = await bench.withSubject(dataDir, async ({ startMs }) => startMs, { eventLog });
  expect('whether the first start takes longer', first > next, true);
  return (first - next) / 1_000;
}
