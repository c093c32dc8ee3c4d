import { RawClient } from '../baselines/raw-client.ts';
import type { Measure } from '../bench.ts';
import { compare, median } from '../rounds.ts';
import { expectTotal, send } from '../subject/client.ts';
import { startEventStore } from '../subject/event-store.ts';
import { canReadUsage, usageOf } from '../subject/usage.ts';
import { createRequest, widgetGroup, widgetText, widgetsPath } from '../subject/widgets.ts';

const writers = 64;
const warmUp = 500;

/** POST of new objects on EventStoreDB, against the driver alone appending events of the same size to the same server. */
export const eventStoreCreate: Measure = {
  name: 'eventstore-create',
  run: async (bench) => {
    // What is acknowledged is on disk, as it is in a real one.
    const store = await startEventStore({ isDurable: true });
    const raw = new RawClient(store.url);
    try {
      return await bench.withSubject(bench.newDataDir(), async ({ url, pid }) => {
        const count = bench.scaled(10_000);
        const request = createRequest('c');
        await send(url, 'POST', widgetsPath, widgetText({ name: 'a-model', size: '500', tier: 'gold', batch: '32' }));
        const { data, metadata } = await raw.lastOf(`ledgerplane-object:widgets.${widgetGroup}/a-model`);
        let first = 0;
        const cpu = { driver: [] as number[], node: [] as number[] };
        const appends = async (): Promise<number> => withCpu(raw.pid, cpu.driver, async () => raw.append({ writers, warmUp, count, data, metadata }));
        const creates = async (): Promise<number> => withCpu(pid, cpu.node, async () => {
          const result = await bench.loader.http({ url, request, connections: writers, status: 201, warmUp, requests: count, first });
          first = result.next;
          return result.perSecond;
        });
        const comparison = await compare(bench.rounds, appends, creates);
        await expectTotal(url, first + 1);
        const perThousand = (seconds: readonly number[]): number => median(seconds.slice(1)) / (warmUp + count) * 1_000;
        return [
          { measure: 'EventStoreDB: POST create, 64 conn.', unit: '/s', ...comparison, floor: 0.8, note: `${store.name}; against appends of the driver alone, ${data.length.toString()} bytes` },
          // Hardly moved by what else the machine does.
          { measure: 'EventStoreDB: POST create: CPU', value: perThousand(cpu.node), unit: 's per 1,000', note: `all threads of the server; ${perThousand(cpu.driver).toFixed(3)} for the driver's appends alone` },
        ];
      }, { eventLog: store.url });
    } finally {
      raw.close();
      await store.stop();
    }
  },
};

async function withCpu<T>(pid: number, seconds: number[], task: () => Promise<T>): Promise<T> {
  const before = canReadUsage ? usageOf(pid).cpuSeconds : Number.NaN;
  const result = await task();
  seconds.push(canReadUsage ? usageOf(pid).cpuSeconds - before : Number.NaN);
  return result;
}
