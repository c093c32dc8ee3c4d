import type { Page } from 'playwright-core';

import type { Result } from '../../result.ts';
import { median } from '../../rounds.ts';
import { expect } from '../../subject/client.ts';
import type { ConsoleVisit } from './console-visit.ts';
import { frameWork, percentile } from './main-thread.ts';

/**
 * Measures the first rows of a long table, and the work of the main thread while a person scrolls through the table.
 */
export async function tableOfMany(
  visits: ConsoleVisit,
  { rounds, count }: { readonly rounds: number; readonly count: number },
): Promise<readonly Result[]> {
  const cold: number[] = [];
  const warm: number[] = [];
  for (let round = 0; round <= rounds; round += 1)
    await visits.page({}, async ({ page }) => {
      const first = await openTableMs(page);
      await page.getByRole('link', { name: 'Home' }).first().click();
      await page.getByRole('heading', { name: 'Home' }).waitFor();
      const again = await openTableMs(page);
      if (round === 0) return;
      cold.push(first);
      warm.push(again);
    });
  const table = `console, table of ${count.toLocaleString('en')}`;
  return [
    {
      measure: `${table}: first rows`,
      unit: 'ms',
      value: median(cold),
      spread: [Math.min(...cold), Math.max(...cold)],
      floor: 300,
      bound: 'value at most',
      note: `from the click, with the files of the page not loaded before; ${median(warm).toFixed(0)} ms again`,
    },
    ...(await scrolling(visits, table, count)),
  ];
}

/** Returns the time from a click in the sidebar until the first rows are painted. */
async function openTableMs(page: Page): Promise<number> {
  if (!page.url().includes('/console')) await page.goto('/console/');
  await page.getByRole('navigation', { name: 'Pages and types' }).getByRole('link', { name: 'Widget' }).waitFor();
  return page.evaluate<number>(`new Promise((resolve) => {
    const began = performance.now();
    document.querySelector('nav a[href$="/widgets"]').click();
    const look = () => {
      if (document.querySelector('.objects-table a.name') === null) requestAnimationFrame(look);
      else setTimeout(() => { resolve(performance.now() - began); });
    };
    requestAnimationFrame(look);
  })`);
}

async function scrolling(visits: ConsoleVisit, table: string, count: number): Promise<readonly Result[]> {
  return visits.page({}, async ({ page }) => {
    await openTableMs(page);
    expect('rows of the table', await page.getByRole('table').getAttribute('aria-rowcount'), String(count + 1));
    const results: Result[] = [];
    for (const { way, step, floor } of ways) {
      await page.evaluate(scroll(step));
      const frames = frameWork(
        await visits.trace(page, async () => {
          await page.evaluate(scroll(step));
        }),
      );
      results.push({
        measure: `${table}: ${way}, work of a frame, p95`,
        unit: 'ms',
        value: percentile(frames, 0.95),
        ...floor,
        note: noteOf(frames),
      });
    }
    await page.locator('.objects-table a.name').first().waitFor();
    return results;
  });
}

/**
 * The ways of scrolling, with the change of the scroll position in each frame. The scroll bar covers all rows, so a
 * step of 40 pixels passes several rows. While the bar is dragged, all rows of each frame are new.
 */
const ways: readonly {
  readonly way: string;
  readonly step: string;
  readonly floor: Pick<Result, 'floor' | 'bound'>;
}[] = [
  { way: 'scrolling', step: 'scroller.scrollTop += 40', floor: { floor: 8, bound: 'value at most' } },
  {
    way: 'dragging the scroll bar',
    step: 'scroller.scrollTop = (frame / frames) * scroller.scrollHeight',
    floor: {},
  },
];

function noteOf(frames: readonly number[]): string {
  const median = percentile(frames, 0.5).toFixed(1);
  return `CPU time; ${String(frames.length)} frames, p50 ${median} ms, max ${Math.max(...frames).toFixed(1)} ms`;
}

function scroll(step: string): string {
  return `(async () => {
    const scroller = document.querySelector('.objects-table');
    scroller.scrollTop = 0;
    const frames = 300;
    for (let frame = 0; frame < frames; frame += 1) {
      await new Promise(requestAnimationFrame);
      ${step};
    }
  })()`;
}
