import type { CDPSession } from 'playwright-core';

import type { Result } from '../../result.ts';
import { logInByForm, type ConsoleVisit } from './console-visit.ts';

const bytesMax = 200;

/**
 * Measures the compressed bytes of all files that a browser with an empty cache loads for the page Log in, which is the
 * first view. Also measures, without a floor, the bytes of all files until Home is shown with its plots.
 */
export async function firstView(visits: ConsoleVisit): Promise<readonly Result[]> {
  const files = new LoadedFiles();
  return visits.page(
    {
      isVisitor: true,
      prepare: async ({ devTools }) => files.follow(devTools),
    },
    async ({ page }) => {
      await page.goto('/console/', { waitUntil: 'networkidle' });
      await page.getByLabel('User name').waitFor();
      const first = files.summary();
      await logInByForm(page);
      await page.getByRole('heading', { name: 'Last hour' }).waitFor();
      // The plots begin with the first sample, ten seconds after the start of the server.
      await page.getByRole('figure').first().locator('canvas').waitFor();
      const home = files.summary();
      return [
        { measure: 'console, first view, all files', unit: 'KB', floor: bytesMax, bound: 'value at most', ...first },
        { measure: 'console, all files until Home is shown', unit: 'KB', ...home },
      ];
    },
  );
}

/** The files of the console that a page has loaded, with their sizes on the wire. */
class LoadedFiles {
  readonly #paths = new Map<string, string>();
  #bytes = 0;
  #count = 0;
  #largest: readonly [string, number] = ['', 0];

  async follow(devTools: CDPSession): Promise<void> {
    devTools.on('Network.responseReceived', ({ requestId, response }) => {
      const { pathname } = new URL(response.url);
      if (pathname.startsWith('/console/')) this.#paths.set(requestId, pathname);
    });
    devTools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const path = this.#paths.get(requestId);
      if (path === undefined) return;
      this.#bytes += encodedDataLength;
      this.#count += 1;
      if (encodedDataLength > this.#largest[1]) this.#largest = [path, encodedDataLength];
    });
    await devTools.send('Network.enable');
  }

  summary(): { readonly value: number; readonly note: string } {
    const [path, bytes] = this.#largest;
    return {
      value: this.#bytes / 1_000,
      note: `${String(this.#count)} files with their headers; the largest is ${path}, ${(bytes / 1_000).toFixed(0)} KB`,
    };
  }
}
