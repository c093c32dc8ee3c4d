import type { Router } from 'vue-router';

import { after } from '../server/browser-clock.ts';

/** The maximum wait for an idle page before its files are loaded, in milliseconds. */
const idleWaitMsMax = 500;

/** Loads the files of the routes with `preload` while the page is idle, so that a click opens these pages at once. */
export function preloadPages(router: Pick<Router, 'getRoutes'>): void {
  for (const { meta } of router.getRoutes()) if (meta.preload !== undefined) loadWhenIdle(meta.preload);
}

/** Ignores a failure: opening the page requests the files again. */
function loadWhenIdle(load: () => Promise<unknown>): void {
  const begin = (): void => void load().catch(() => undefined);
  // Safari has no `requestIdleCallback`.
  if ('requestIdleCallback' in window) requestIdleCallback(begin, { timeout: idleWaitMsMax });
  else after(idleWaitMsMax, begin);
}
