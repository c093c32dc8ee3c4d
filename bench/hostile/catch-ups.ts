import type { Bench } from '../bench.ts';
import type { Result } from '../result.ts';
import { heldWhile } from '../subject/metrics.ts';
import { headers } from '../subject/server.ts';
import { widgetsPath } from '../subject/widgets.ts';
import { unlogged } from './unlogged.ts';

const watchers = 32;

/** Measures how long the event loop is blocked while many watchers read the log from its start. */
export async function catchUps(bench: Bench): Promise<readonly Result[]> {
  const count = bench.scaled(100_000);
  return bench.withSubject(
    await bench.seeded(count),
    async ({ url }) => {
      const held = await heldWhile(url, async () => {
        await Promise.all(Array.from({ length: watchers }, async () => readAll(url, count)));
      });
      return [
        {
          measure: `${String(watchers)} catch-ups of ${count.toLocaleString('en')} events: longest hold`,
          value: held.maxMs,
          unit: 'ms',
          floor: 50,
          bound: 'value at most',
          note: `p50 ${held.p50Ms.toFixed(1)} ms`,
        },
      ];
    },
    unlogged,
  );
}

async function readAll(url: string, count: number): Promise<void> {
  const ended = new AbortController();
  const response = await fetch(`${url}${widgetsPath}?watch=true&resourceVersion=1`, { headers, signal: ended.signal });
  if (response.status !== 200 || response.body === null)
    throw new Error(`a watch returned the status ${String(response.status)}`);
  let lines = 0;
  for await (const chunk of response.body) {
    for (const byte of chunk as Uint8Array) if (byte === 0x0a) lines += 1;
    if (lines >= count) break;
  }
  ended.abort();
  if (lines < count) throw new Error(`a watch ended after ${String(lines)} of ${String(count)} events`);
}
