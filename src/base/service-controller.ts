import { setMaxListeners } from 'node:events';

/**
 * Returns an abort controller for the end of a service. The signal accepts any number of listeners without Node's
 * warning about a leak.
 */
export function serviceController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
