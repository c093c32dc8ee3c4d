import { sep } from 'node:path';
import { pathToFileURL } from 'node:url';

import { RefusedCallError } from './client.ts';

/**
 * Whose code a stray error came from: one that no promise's owner awaited, or thrown by a timer. A plugin's must not end the
 * platform. It is a plugin's when a frame of its stack lies in the plugin's folder, when it is a refused call of a client,
 * which only plugins make, or when it is no Error, which the platform never throws.
 */
export function blamedPlugin(error: unknown, plugins: readonly { readonly name: string; readonly folder: string }[]): string | undefined {
  const stack = stackOf(error);
  const found = plugins.find(({ folder }) => stack.includes(folder + sep) || stack.includes(`${pathToFileURL(folder).href}/`));
  if (found !== undefined) return found.name;
  return error instanceof RefusedCallError || !(error instanceof Error) ? 'unknown' : undefined;
}

/** Foreign errors are foreign objects: looking at one may throw. */
function stackOf(error: unknown): string {
  try {
    return error instanceof Error && typeof error.stack === 'string' ? error.stack : '';
  } catch {
    return '';
  }
}
