import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { chromium, type Browser } from 'playwright-core';

import { repository } from '../../architecture/repository.ts';

/** Chromium, which `npm test` installs on Linux x64. */
const installed = join(repository, 'test', 'tools', 'node_modules', '.chromium', 'chromium');

/** The path of the browser: `CHROMIUM`, or the installed one; undefined on a machine with neither. */
export const browserPath = process.env['CHROMIUM'] ?? (existsSync(installed) ? installed : undefined);

/**
 * The options of each test with a browser. On a machine without a browser, the tests are skipped with a reason; in CI
 * they fail, because `.ci/run` sets `CONSOLE_TESTS=required`.
 */
export const withBrowser: { readonly skip?: string } =
  browserPath !== undefined || process.env['CONSOLE_TESTS'] === 'required'
    ? {}
    : { skip: 'no browser: set CHROMIUM to the path of a Chromium, or install test/tools on Linux x64' };

export async function launchBrowser(): Promise<Browser> {
  if (browserPath === undefined) throw new Error('no browser: set CHROMIUM to the path of a Chromium');
  // Chromium's sandbox needs rights that containers usually do not have. The pages are this repository's own.
  return chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
}
