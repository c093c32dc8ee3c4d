import type { CDPSession, Page } from 'playwright-core';

import type { Bench } from '../../bench.ts';
import type { RequestTemplate } from '../../load/template.ts';
import type { Result } from '../../result.ts';
import { expect, list } from '../../subject/client.ts';
import { headers } from '../../subject/server.ts';
import { seededName } from '../../subject/seed.ts';
import { widgetText, widgetsPath } from '../../subject/widgets.ts';
import type { ConsoleVisit } from './console-visit.ts';
import { busyOf, heapOf } from './main-thread.ts';

const perSecond = 200;
/** Rows at the top of the table, all of which are visible. */
const visible = 10;
const growthMax = 20;
/** The number of objects that the placeholder `{s}` of a request names. */
const scattered = 100_000;

type Changing = { readonly bench: Bench; readonly url: string; readonly count: number };

/** Measures a table that is open while its objects change: at 200 changes a second, and during a million changes. */
export async function changesToTable(visits: ConsoleVisit, changing: Changing): Promise<readonly Result[]> {
  return visits.page({}, async ({ page, devTools }) => {
    await page.goto('/console/objects/example.com/v1alpha1/widgets');
    await page.getByRole('link', { name: seededName(changing.count - 1), exact: true }).waitFor();
    return [await steadyChanges(page, devTools, changing), await manyChanges(page, devTools, changing)];
  });
}

async function steadyChanges(page: Page, devTools: CDPSession, { bench, url, count }: Changing): Promise<Result> {
  const writes = bench.scaled(perSecond * 30);
  await devTools.send('Performance.enable');
  const before = await busyOf(devTools);
  await writeSteadily(url, writes, count);
  const after = await busyOf(devTools);
  await shownAsStored(page, url);
  return {
    measure: `console, ${String(perSecond)} changes a second, main thread busy`,
    unit: '%',
    value: ((after.tasks - before.tasks) / (after.at - before.at)) * 100,
    floor: 50,
    bound: 'value at most',
    note: `${writes.toLocaleString('en')} changes of ${String(visible)} visible rows; the final state is shown`,
  };
}

/**
 * Changes the visible objects, which are the newest ones, in turn and at a fixed rate that is independent of the
 * response times.
 */
async function writeSteadily(url: string, writes: number, count: number): Promise<void> {
  const pending: Promise<void>[] = [];
  const began = performance.now();
  for (let sent = 0; sent < writes;) {
    const due = Math.min(writes, Math.floor(((performance.now() - began) / 1_000) * perSecond) + 1);
    for (; sent < due; sent += 1) pending.push(resize(url, seededName(count - 1 - (sent % visible)), sent % 1_000));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await Promise.all(pending);
  const seconds = (performance.now() - began) / 1_000;
  if (writes / seconds < perSecond * 0.9) throw new Error(`only ${(writes / seconds).toFixed(0)} writes a second`);
}

async function resize(url: string, name: string, size: number): Promise<void> {
  const response = await fetch(`${url}${widgetsPath}/${name}`, {
    method: 'PATCH',
    headers: { ...headers, 'Content-Type': 'application/merge-patch+json' },
    body: JSON.stringify({ spec: { size } }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`a write returned the status ${response.status.toString()}: ${text.slice(0, 300)}`);
}

/** Resolves when the table shows the stored sizes of the first rows. */
async function shownAsStored(page: Page, url: string): Promise<void> {
  const { items } = await list(url, `page=1&size=${visible.toString()}`);
  for (const { metadata, spec } of items)
    await page
      .getByRole('row')
      .filter({ has: page.getByRole('link', { name: metadata.name, exact: true }) })
      .getByRole('cell', { name: String(spec.size), exact: true })
      .waitFor();
}

/**
 * Writes changes over HTTP while the page follows them by its watch. The writes change the newest 100,000 objects
 * repeatedly.
 */
async function manyChanges(page: Page, devTools: CDPSession, { bench, url, count }: Changing): Promise<Result> {
  const changes = bench.scaled(1_000_000);
  const names = `${seededName(count - scattered).slice(0, -5)}{s}`;
  const request: RequestTemplate = {
    method: 'PUT',
    path: `${widgetsPath}/${names}`,
    headers,
    body: widgetText({ name: names, size: '{m}', tier: 'gold', batch: '{c}' }),
  };
  const plan = { url, request, connections: 16, status: 200, warmUp: 0 };
  await bench.loader.http({ ...plan, requests: bench.scaled(20_000) });
  await shownAsStored(page, url);
  const before = await heapOf(devTools);
  const { perSecond: rate } = await bench.loader.http({ ...plan, requests: changes });
  await shownAsStored(page, url);
  const after = await heapOf(devTools);
  expect('rows of the table', await page.getByRole('table').getAttribute('aria-rowcount'), String(count + 1));
  return {
    measure: `console, ${changes.toLocaleString('en')} changes, growth of the heap`,
    unit: 'MB',
    value: (after - before) / 1_000_000,
    floor: growthMax,
    bound: 'value at most',
    note: `from ${(before / 1_000_000).toFixed(1)} MB; ${rate.toFixed(0)} changes a second; the final state is shown`,
  };
}
