import type { Page } from 'playwright-core';

/**
 * Holds the responses to writes with this method, as a slow connection does, from `act` on. Resolves when the server
 * has answered the first one, with the function that lets the page have them.
 */
export async function holdWrite(page: Page, method: string, act: () => Promise<void>): Promise<() => Promise<void>> {
  await page.evaluate(`(() => {
    const { fetch: send } = globalThis;
    const released = new Promise((resolve) => {
      globalThis.releaseWrites = () => {
        globalThis.fetch = send;
        resolve();
      };
    });
    let hold;
    globalThis.writeHeld = new Promise((resolve) => {
      hold = resolve;
    });
    globalThis.fetch = async (url, init) => {
      const response = await send(url, init);
      if (init?.method !== '${method}' || String(url).includes('dryRun')) return response;
      hold();
      await released;
      return response;
    };
  })()`);
  await act();
  await page.evaluate('globalThis.writeHeld');
  return async () => {
    await page.evaluate('globalThis.releaseWrites()');
  };
}
