import type { Bench, Measure } from '../bench.ts';
import { shakeHands } from '../load/handshakes.ts';
import type { RequestTemplate } from '../load/template.ts';
import type { Result } from '../result.ts';
import { compare, median } from '../rounds.ts';
import { expect, send } from '../subject/client.ts';
import { headers, type Subject } from '../subject/server.ts';
import { usageOf } from '../subject/usage.ts';
import { widgetText, widgetsPath } from '../subject/widgets.ts';

const path = `${widgetsPath}/measured`;

/**
 * Measures GET of one object over 64 connections with TLS, against the same server without TLS. Also measures the CPU
 * time of one handshake.
 */
export const getTls: Measure = {
  name: 'get-tls',
  run: async (bench) => {
    const dirs = [bench.newDataDir(), bench.newDataDir()] as const;
    const widget = widgetText({ name: 'measured', size: '1', tier: 'gold', batch: '1' });
    for (const dir of dirs)
      await bench.withSubject(dir, async ({ url }) => {
        await send(url, 'POST', widgetsPath, widget);
      });
    return bench.withSubject(dirs[0], async (plain) =>
      bench.withSubject(dirs[1], async (secure) => [await gets(bench, plain, secure), await handshake(bench, secure)], {
        settings: { TLS: 'auto' },
      }),
    );
  },
};

async function gets(bench: Bench, plain: Subject, secure: Subject): Promise<Result> {
  const bytes = await send(plain.url, 'GET', path);
  const request: RequestTemplate = { method: 'GET', path, headers };
  const requests = bench.scaled(40_000);
  const load = async (url: string): Promise<number> => {
    const result = await bench.loader.http({ url, request, connections: 64, status: 200, warmUp: 500, requests });
    expect('bytes of a response', Math.round(result.bodyBytes / requests), bytes.length);
    return result.perSecond;
  };
  const comparison = await compare(
    bench.rounds,
    () => load(plain.url),
    () => load(secure.url),
  );
  return { measure: 'GET over TLS, 64 connections', unit: '/s', ...comparison, floor: 0.7 };
}

async function handshake(bench: Bench, { url, pid }: Subject): Promise<Result> {
  const count = bench.scaled(1_000);
  const costs: number[] = [];
  for (let round = 0; round <= bench.rounds; round += 1) {
    const before = usageOf(pid).cpuSeconds;
    await shakeHands(url, count);
    // The first round is a warm-up.
    if (round > 0) costs.push(((usageOf(pid).cpuSeconds - before) * 1_000) / count);
  }
  return {
    measure: 'one full handshake, CPU',
    value: median(costs),
    unit: 'ms',
    floor: 1,
    bound: 'value at most',
    spread: [Math.min(...costs), Math.max(...costs)],
  };
}
