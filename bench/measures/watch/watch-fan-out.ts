import { bareWebSockets } from '../../baselines/baseline.ts';
import type { Bench, Measure } from '../../bench.ts';
import type { WatchPlan, WatchResult } from '../../load/watch-load.ts';
import { compare } from '../../rounds.ts';
import { expect, expectTotal, list } from '../../subject/client.ts';
import { headers } from '../../subject/server.ts';
import { createRequest, widgetsPath } from '../../subject/widgets.ts';

const sockets = 1_000;

/** Sends each change of 16 writers to 1,000 sockets, against `ws`, which sends the same frames one by one. */
export const watchFanOut: Measure = {
  name: 'watch-fan-out',
  run: async (bench) =>
    bench.withSubject(bench.newDataDir(), async ({ url }) => {
      const changes = bench.scaled(500);
      let first = 0;
      const watch = async (): Promise<WatchResult> => {
        const load = {
          url,
          request: createRequest('w'),
          connections: 16,
          status: 201,
          warmUp: 0,
          requests: changes,
          first,
        };
        first += changes;
        return bench.loader.watch({ ...(await watchPlan(url, sockets)), changes: { kind: 'closed-loop', load } });
      };
      const sample = await watch();
      const frame = firstFrame(sample.sample);
      const comparison = await compare(
        Math.min(bench.rounds, 3),
        async () => pushAlone(bench, frame, changes),
        async () => (await watch()).perSecond,
      );
      await expectTotal(url, first);
      return [
        {
          measure: 'watch: 1,000 sockets, 16 writers',
          unit: 'deliveries/s',
          ...comparison,
          floor: 1.5,
          note: `${frame.length.toString()} bytes per frame`,
        },
      ];
    }),
};

async function pushAlone(bench: Bench, frame: string, count: number): Promise<number> {
  const baseline = await bareWebSockets();
  try {
    const result = await bench.loader.watch(
      { url: baseline.url, path: '/', headers, sockets, changes: { kind: 'pushed', count } },
      () => {
        baseline.push({ frame, count });
      },
    );
    return result.perSecond;
  } finally {
    baseline.close();
  }
}

/** Returns the plan of watches of all widgets that start now. */
export async function watchPlan(url: string, count: number): Promise<Omit<WatchPlan, 'changes'>> {
  const { metadata } = await list(url, 'size=1');
  return {
    url,
    path: `${widgetsPath}?watch=true&resourceVersion=${metadata.resourceVersion}`,
    headers,
    sockets: count,
  };
}

/** Returns the first message in `text`, which consists of consecutive messages. A message is a change as JSON. */
export function firstFrame(text: string): string {
  const next = text.indexOf('}{"type":"');
  const frame = next === -1 ? text.trimEnd() : text.slice(0, next + 1);
  const change = JSON.parse(frame) as { readonly type: string };
  expect('type of the change', change.type, 'ADDED');
  return frame;
}
