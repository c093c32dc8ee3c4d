/**
 * Loaded before a test file. It disables tap's tracking of promises: tap follows every promise with async_hooks, only
 * to name the test in which an unawaited promise rejected. That takes two thirds of the time of tests that write.
 * Without the tracking, such an error fails the whole file, with the error's stack.
 */
import asyncHooks from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';

const { createHook } = asyncHooks;

asyncHooks.createHook = (callbacks) => {
  if (!new Error().stack.includes('async-hook-domain')) return createHook(callbacks);
  return { enable: () => undefined, disable: () => undefined };
};
syncBuiltinESMExports();
