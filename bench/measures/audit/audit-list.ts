import type { Bench, Measure } from '../../bench.ts';
import type { RequestTemplate } from '../../load/template.ts';
import type { Result } from '../../result.ts';
import { expect, expectTotal, send, served } from '../../subject/client.ts';
import { heldWhile } from '../../subject/metrics.ts';
import { headers } from '../../subject/server.ts';

const versions = 10;
const heldMsMax = 20;
const eventsPath = '/apis/audit.svc.run/v1alpha1/events';
const type = 'type=widgets.example.com';
const range = 'time>=2026-01-01T00:00:10Z,time<2026-01-01T00:00:20Z';

/** `shown`: the number of events on the first page. */
const cases: readonly { readonly what: string; readonly selector: string; readonly shown: number }[] = [
  { what: 'actor, of all events', selector: 'actor=admin', shown: 50 },
  { what: 'actor without events', selector: 'actor=nobody', shown: 0 },
  { what: 'type, of all events', selector: type, shown: 50 },
  { what: 'range of time', selector: range, shown: 50 },
  { what: 'actor, type and range of time', selector: `actor=admin,${type},${range}`, shown: 50 },
  { what: 'actor and a type without events', selector: 'actor=admin,type=gadgets.example.com', shown: 0 },
];

/** Requests the first page of the audit stream over a million events, in both orders, one request after another. */
export const auditList: Measure = {
  name: 'audit-list',
  run: async (bench) => {
    const count = bench.scaled(100_000);
    return bench.withSubject(await bench.seeded(count, versions), async ({ url }) => {
      await expectTotal(url, count);
      await served(url, `${eventsPath}?limit=1`);
      const results: Result[] = [];
      const held = await heldWhile(url, async () => {
        for (const each of cases) results.push(await firstPage(bench, url, each));
      });
      return [
        ...results,
        {
          measure: 'audit stream: longest hold',
          unit: 'ms',
          value: held.maxMs,
          floor: heldMsMax,
          bound: 'value at most',
          note: `p50 ${held.p50Ms.toFixed(1)} ms`,
        },
      ];
    });
  },
};

async function firstPage(
  bench: Bench,
  url: string,
  { what, selector, shown }: { readonly what: string; readonly selector: string; readonly shown: number },
): Promise<Result> {
  const query = `limit=50&fieldSelector=${encodeURIComponent(selector)}`;
  const p50s: number[] = [];
  let p99Ms = 0;
  for (const sort of ['position', 'position,desc']) {
    const path = `${eventsPath}?${query}&sort=${sort}`;
    const page = JSON.parse((await send(url, 'GET', path)).toString('utf8')) as { readonly items: readonly unknown[] };
    expect(`events of ${selector}`, page.items.length, shown);
    const request: RequestTemplate = { method: 'GET', path, headers };
    const plan = { url, request, connections: 1, status: 200, warmUp: 20, requests: bench.scaled(500) };
    const found = await bench.loader.http(plan);
    p50s.push(found.p50Ms);
    p99Ms = Math.max(p99Ms, found.p99Ms);
  }
  const note = `p50 ${p50s.map((ms) => ms.toFixed(1)).join(' oldest first, ')} newest first`;
  return { measure: `audit stream: ${what}`, unit: 'ms p99', value: p99Ms, note };
}
