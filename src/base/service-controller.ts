import { setMaxListeners } from 'node:events';

/**
 * Returns an abort controller for the end of a service. Its signal accepts any number of listeners. For other signals,
 * Node warns about a leak of listeners, by default at the eleventh listener.
 */
export function serviceController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
