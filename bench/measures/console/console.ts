import { launchBrowser } from '../../../test/console/support/browser.ts';
import type { Bench, Measure } from '../../bench.ts';
import type { Result } from '../../result.ts';
import { changesToTable } from './changes-to-table.ts';
import { ConsoleVisit } from './console-visit.ts';
import { firstView } from './first-view.ts';
import { logInPage } from './log-in-page.ts';
import { tableOfMany } from './table-of-many.ts';

/** The web console in Chromium, against a server with a million objects. */
export const consoleInBrowser: Measure = {
  name: 'console',
  run: async (bench) => [...(await emptyServer(bench)), ...(await manyObjects(bench))],
};

async function emptyServer(bench: Bench): Promise<readonly Result[]> {
  return bench.withSubject(bench.newDataDir(), async ({ url }) =>
    withVisits(url, async (visits) => [...(await firstView(visits)), ...(await logInPage(visits, bench.rounds))]),
  );
}

/** Changes the seeded objects at the end, so this must be the last measure with these objects. */
async function manyObjects(bench: Bench): Promise<readonly Result[]> {
  const count = bench.scaled(1_000_000);
  return bench.withSubject(await bench.seeded(count), async ({ url }) =>
    withVisits(url, async (visits) => [
      ...(await tableOfMany(visits, { rounds: bench.rounds, count })),
      ...(await changesToTable(visits, { bench, url, count })),
    ]),
  );
}

/** Calls `task` with a browser on the server at `url`. */
async function withVisits<T>(url: string, task: (visits: ConsoleVisit) => Promise<T>): Promise<T> {
  const browser = await launchBrowser();
  try {
    return await task(new ConsoleVisit(browser, url));
  } finally {
    await browser.close();
  }
}
