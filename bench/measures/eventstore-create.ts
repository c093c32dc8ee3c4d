import { RawClient } from '../baselines/raw-client.ts';
import type { Measure } from '../bench.ts';
import { compare } from '../rounds.ts';
import { expectTotal, send } from '../subject/client.ts';
import { startEventStore } from '../subject/event-store.ts';
import { createRequest, widgetGroup, widgetText, widgetsPath } from '../subject/widgets.ts';

const writers = 64;
const warmUp = 500;

/** POST of new objects on EventStoreDB, against the driver alone appending events of the same size to the same server. */
export const eventStoreCreate: Measure = {
  name: 'eventstore-create',
  run: async (bench) => {
    const store = await startEventStore();
    const raw = new RawClient(store.url);
    try {
      return await bench.withSubject(bench.newDataDir(), async ({ url }) => {
        const count = bench.scaled(10_000);
        const request = createRequest('c');
        await send(url, 'POST', widgetsPath, widgetText({ name: 'a-model', size: '500', tier: 'gold', batch: '32' }));
        const { data, metadata } = await raw.lastOf(`ledgerplane-object:widgets.${widgetGroup}/a-model`);
        let first = 0;
        const appends = async (): Promise<number> => raw.append({ writers, warmUp, count, data, metadata });
        const creates = async (): Promise<number> => {
          const result = await bench.loader.http({ url, request, connections: writers, status: 201, warmUp, requests: count, first });
          first = result.next;
          return result.perSecond;
        };
        const comparison = await compare(bench.rounds, appends, creates);
        await expectTotal(url, first + 1);
        return [{ measure: 'EventStoreDB: POST create, 64 conn.', unit: '/s', ...comparison, floor: 0.8, note: `${store.name}; against appends of the driver alone, ${data.length.toString()} bytes` }];
      }, { eventLog: store.url });
    } finally {
      raw.close();
      await store.stop();
    }
  },
};
