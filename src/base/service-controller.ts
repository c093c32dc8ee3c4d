import { setMaxListeners } from 'node:events';

/**
 * An abort controller that ends a service: any number of waits listen to its signal at a time, so Node does not report
 * them as a leak, as it does from the eleventh listener on.
 */
export function serviceController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
