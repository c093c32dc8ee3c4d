import { setTimeout as passes } from 'node:timers/promises';

import type { Bench } from '../bench.ts';
import type { RequestTemplate } from '../load/template.ts';
import type { Result } from '../result.ts';
import { expectTotal, list } from '../subject/client.ts';
import { heldWhile, readMetrics } from '../subject/metrics.ts';
import { headers } from '../subject/server.ts';
import { canReadUsage, memoryGrowth } from '../subject/usage.ts';
import { widgetsPath } from '../subject/widgets.ts';
import { openSilent } from './silent-clients.ts';
import { unlogged } from './unlogged.ts';

const mebibyte = 1_048_576;
const heldMsMax = 50;
/** The time within which the server disconnects watchers that are too far behind. */
const settleMs = 3_000;

/** A widget with a response of about 4 KB. */
function largeWidget(prefix: string): RequestTemplate {
  const object = {
    apiVersion: 'example.com/v1alpha1',
    kind: 'Widget',
    metadata: { name: `${prefix}-{n}`, annotations: { 'example.com/text': 'x'.repeat(3_700) } },
    spec: { title: 'A large widget' },
  };
  return { method: 'POST', path: widgetsPath, headers, body: JSON.stringify(object) };
}

async function watchPath(url: string): Promise<string> {
  const { metadata } = await list(url, 'size=1');
  return `${widgetsPath}?watch=true&resourceVersion=${metadata.resourceVersion}`;
}

/**
 * Measures the longest block of the event loop while objects are written and watchers do not read, and while these
 * watchers disconnect.
 */
export async function silentWatchers(
  bench: Bench,
  load: { watchers: number; writes: number },
): Promise<readonly Result[]> {
  const [watchers, writes] = [bench.scaled(load.watchers), bench.scaled(load.writes)];
  return bench.withSubject(
    bench.newDataDir(),
    async ({ url }) => {
      const clients = await openSilent(url, await watchPath(url), watchers);
      let left = 0;
      const held = await heldWhile(url, async () => {
        const plan = { url, request: largeWidget('s'), connections: 16, status: 201, warmUp: 0, requests: writes };
        await bench.loader.http(plan);
        await passes(settleMs);
        left = (await readMetrics(url))('ledgerplane_watchers');
      });
      const disconnecting = await heldWhile(url, async () => {
        clients.close();
        for (;;) {
          if ((await readMetrics(url))('ledgerplane_watchers') === 0) return;
          await passes(100);
        }
      });
      await expectTotal(url, writes);
      const what = `${watchers.toLocaleString('en')} silent watchers, ${writes.toLocaleString('en')} writes of 4 KB`;
      return [
        {
          measure: `${what}: longest hold`,
          value: held.maxMs,
          unit: 'ms',
          floor: heldMsMax,
          bound: 'value at most',
          note: `p50 ${held.p50Ms.toFixed(1)} ms; ${String(left)} watchers remained`,
        },
        {
          measure: '… all disconnect at once: longest hold',
          value: disconnecting.maxMs,
          unit: 'ms',
          floor: heldMsMax,
          bound: 'value at most',
        },
      ];
    },
    unlogged,
  );
}

/** Measures the growth of the server's memory while watchers must catch up on 2 MiB of changes but read nothing. */
export async function silentJoins(bench: Bench): Promise<readonly Result[]> {
  if (!canReadUsage) return [];
  const [watchers, writes] = [bench.scaled(300), bench.scaled(500)];
  return bench.withSubject(
    bench.newDataDir(),
    async ({ url, pid }) => {
      const path = await watchPath(url);
      // The server stores recent changes only while a watcher is connected.
      const first = await openSilent(url, path, 1);
      await bench.loader.http({
        url,
        request: largeWidget('j'),
        connections: 16,
        status: 201,
        warmUp: 0,
        requests: writes,
      });
      const { result, bytes } = await memoryGrowth(pid, async () => {
        const clients = await openSilent(url, path, watchers);
        await passes(settleMs);
        return clients;
      });
      result.close();
      first.close();
      const measure = `${String(watchers)} unread joins of ${((writes * 4_000) / mebibyte).toFixed(1)} MiB: memory`;
      const note = 'up to 64 MiB of frames for one user, the rest for connections; growth of RssAnon';
      return [{ measure, value: bytes / mebibyte, unit: 'MiB', floor: 80, bound: 'value at most', note }];
    },
    unlogged,
  );
}
