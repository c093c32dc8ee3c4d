/**
 * Loaded before a test file. tap follows every promise from its making to its collection, with async_hooks, only to say
 * in which test something was thrown that nobody awaited: that took two thirds of the time of tests that write. Without
 * it such an error ends the file, which fails as a whole, with the error's stack.
 */
import asyncHooks from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';

const { createHook } = asyncHooks;

asyncHooks.createHook = (callbacks) => {
  if (!new Error().stack.includes('async-hook-domain')) return createHook(callbacks);
  return { enable: () => undefined, disable: () => undefined };
};
syncBuiltinESMExports();
