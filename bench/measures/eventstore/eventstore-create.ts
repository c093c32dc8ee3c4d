import { RawClient } from '../../baselines/raw-client.ts';
import type { Measure } from '../../bench.ts';
import { compare, median } from '../../rounds.ts';
import { expectTotal, send } from '../../subject/client.ts';
import { startEventStore } from '../../subject/event-store.ts';
import { canReadUsage, usageOf } from '../../subject/usage.ts';
import { createRequest, widgetGroup, widgetText, widgetsPath } from '../../subject/widgets.ts';

const writers = 64;
const warmUp = 500;

/** POST of new objects on EventStoreDB, against only the driver, which appends events of the same size. */
export const eventStoreCreate: Measure = {
  name: 'eventstore-create',
  run: async (bench) => {
    // Acknowledged events are on disk, as with a real EventStoreDB.
    const store = await startEventStore({ isDurable: true });
    const raw = new RawClient(store.url);
    try {
      return await bench.withSubject(
        bench.newDataDir(),
        async ({ url, pid }) => {
          const count = bench.scaled(10_000);
          const request = createRequest('c');
          await send(url, 'POST', widgetsPath, widgetText({ name: 'a-model', size: '500', tier: 'gold', batch: '32' }));
          const { data, metadata } = await raw.lastOf(`${store.prefix}object:widgets.${widgetGroup}/a-model`);
          let first = 0;
          const spent = { driver: [] as Spent[], node: [] as Spent[] };
          const appends = async (): Promise<number> =>
            withCpu({ pid: raw.pid, store: store.pid }, spent.driver, async () =>
              raw.append({ writers, warmUp, count, data, metadata }),
            );
          const creates = async (): Promise<number> =>
            withCpu({ pid, store: store.pid }, spent.node, async () => {
              const result = await bench.loader.http({
                url,
                request,
                connections: writers,
                status: 201,
                warmUp,
                requests: count,
                first,
              });
              first = result.next;
              return result.perSecond;
            });
          const comparison = await compare(bench.rounds, appends, creates);
          await expectTotal(url, first + 1);
          const perThousand = (all: readonly Spent[]): number =>
            (median(all.slice(1).map(({ process }) => process)) / (warmUp + count)) * 1_000;
          const share = (of: 'process' | 'store'): number =>
            median(spent.node.slice(1).map(({ [of]: seconds, wall }) => seconds / wall));
          return [
            {
              measure: 'EventStoreDB: POST create, 64 conn.',
              unit: '/s',
              ...comparison,
              ...(store.isReal ? { floor: 0.6 } : {}),
              note: `${store.name}; against appends of the driver alone, ${data.length.toString()} bytes`,
            },
            // Reports CPU time, because other processes on the machine hardly change it.
            {
              measure: 'EventStoreDB: POST create: CPU',
              value: perThousand(spent.node),
              unit: 's per 1,000',
              ...(store.isReal ? { floor: 0.18, bound: 'value at most' as const } : {}),
              note: `all threads of the node; ${perThousand(spent.driver).toFixed(3)} for the driver's appends alone`,
            },
            {
              measure: 'EventStoreDB: POST create: node',
              value: share('process'),
              unit: 'cores',
              note:
                `CPU time per second; ${store.pid === undefined ? 'unknown' : share('store').toFixed(2)} of ` +
                "the database's server",
            },
          ];
        },
        { eventLog: store },
      );
    } finally {
      raw.close();
      await store.stop();
    }
  },
};

/** The CPU seconds of both processes and the wall-clock seconds. CPU seconds are NaN if they cannot be read. */
type Spent = { readonly process: number; readonly store: number; readonly wall: number };

async function withCpu<T>(
  { pid, store }: { readonly pid: number; readonly store: number | undefined },
  spent: Spent[],
  task: () => Promise<T>,
): Promise<T> {
  const cpu = (of: number | undefined): number =>
    canReadUsage && of !== undefined ? usageOf(of).cpuSeconds : Number.NaN;
  const [before, storeBefore, beganAt] = [cpu(pid), cpu(store), performance.now()];
  const result = await task();
  spent.push({
    process: cpu(pid) - before,
    store: cpu(store) - storeBefore,
    wall: (performance.now() - beganAt) / 1_000,
  });
  return result;
}
