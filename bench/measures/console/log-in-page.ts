import type { Result } from '../../result.ts';
import type { ConsoleVisit } from './console-visit.ts';
import { median } from '../../rounds.ts';

const throttling = 4;
const quietMs = 1_000;

/**
 * Measures the time from the navigation until the page Log in accepts text, with an empty cache and a slowed CPU. The
 * page accepts text when the first field exists, and when the last task of more than 50 ms before a quiet second has
 * ended.
 */
export async function logInPage(visits: ConsoleVisit, rounds: number): Promise<readonly Result[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) times.push(await interactiveMs(visits));
  return [
    {
      measure: 'console, log-in page interactive',
      unit: 's',
      value: median(times) / 1_000,
      spread: [Math.min(...times) / 1_000, Math.max(...times) / 1_000],
      floor: 1.5,
      bound: 'value at most',
      note: `cold, CPU slowed ${String(throttling)} times`,
    },
  ];
}

async function interactiveMs(visits: ConsoleVisit): Promise<number> {
  return visits.page(
    {
      isVisitor: true,
      prepare: async ({ page, devTools }) => {
        await devTools.send('Emulation.setCPUThrottlingRate', { rate: throttling });
        await page.addInitScript(`globalThis.interactive = (${waitUntilInteractive})(${String(quietMs)})`);
      },
    },
    async ({ page }) => {
      await page.goto('/console/login', { waitUntil: 'commit' });
      const at = await page.evaluate<number>('interactive');
      await page.getByLabel('User name').pressSequentially('a');
      return at;
    },
  );
}

/** Runs in the page from the start of the page. Times are in milliseconds since the navigation. */
const waitUntilInteractive = `(quietMs) => new Promise((resolve) => {
  let shownAt;
  let lastEnd = 0;
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) lastEnd = Math.max(lastEnd, startTime + duration);
  }).observe({ type: 'longtask', buffered: true });
  const look = () => {
    const field = document.querySelector('input[autocomplete=username]');
    if (shownAt === undefined && field !== null) shownAt = performance.now();
    const at = Math.max(shownAt ?? Infinity, lastEnd);
    if (performance.now() - at < quietMs || at === Infinity) setTimeout(look, 16);
    else resolve(at);
  };
  look();
})`;
