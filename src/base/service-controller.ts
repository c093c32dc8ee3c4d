import { setMaxListeners } from 'node:events';

/**
 * An abort controller that ends a service. Any number of waits may listen to its signal, and Node does not report a
 * leak, as it would from the eleventh listener on.
 */
export function serviceController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
