import type { Bench, Measure } from '../../bench.ts';
import type { RequestTemplate } from '../../load/template.ts';
import type { Result } from '../../result.ts';
import { compare } from '../../rounds.ts';
import { expect, expectTotal, send } from '../../subject/client.ts';
import { startEventStore } from '../../subject/event-store.ts';
import { headers } from '../../subject/server.ts';
import { createRequest, widgetText, widgetsPath } from '../../subject/widgets.ts';

const objects = 499;

/** GET and LIST 500 on EventStoreDB, against the same server on the embedded log. */
export const eventStoreReads: Measure = {
  name: 'eventstore-reads',
  run: async (bench) => {
    const store = await startEventStore();
    try {
      return await bench.withSubject(bench.newDataDir(), async (embedded) =>
        bench.withSubject(
          bench.newDataDir(),
          async ({ url }) => {
            for (const each of [embedded.url, url]) {
              await send(
                each,
                'POST',
                widgetsPath,
                widgetText({ name: 'measured', size: '1', tier: 'gold', batch: '1' }),
              );
              await bench.loader.http({
                url: each,
                request: createRequest('l'),
                connections: 16,
                status: 201,
                warmUp: 0,
                requests: objects,
              });
              await expectTotal(each, objects + 1);
            }
            const both = { embedded: embedded.url, measured: url, store: store.name };
            return [
              await reads(bench, both, {
                name: 'GET one object, 64 conn.',
                path: `${widgetsPath}/measured`,
                connections: 64,
                requests: 40_000,
              }),
              await reads(bench, both, {
                name: 'LIST 500 objects',
                path: widgetsPath,
                connections: 16,
                requests: 6_000,
              }),
            ];
          },
          { eventLog: store },
        ),
      );
    } finally {
      await store.stop();
    }
  },
};

type Read = { readonly name: string; readonly path: string; readonly connections: number; readonly requests: number };

async function reads(
  bench: Bench,
  { embedded, measured, store }: { readonly embedded: string; readonly measured: string; readonly store: string },
  { name, path, connections, requests }: Read,
): Promise<Result> {
  const request: RequestTemplate = { method: 'GET', path, headers };
  const load = async (url: string): Promise<number> => {
    const bytes = await send(url, 'GET', path);
    const result = await bench.loader.http({
      url,
      request,
      connections,
      status: 200,
      warmUp: 500,
      requests: bench.scaled(requests),
    });
    expect('bytes of all responses', result.bodyBytes, bench.scaled(requests) * bytes.length);
    return result.perSecond;
  };
  const comparison = await compare(
    bench.rounds,
    async () => load(embedded),
    async () => load(measured),
  );
  return {
    measure: `EventStoreDB: ${name}`,
    unit: '/s',
    ...comparison,
    floor: 0.95,
    note: `${store}; against the embedded log`,
  };
}
