import { sep } from 'node:path';
import { pathToFileURL } from 'node:url';

import { ClientError } from './plugin.ts';

export type Suspect = { readonly name: string; readonly folder: string; readonly bundled: boolean };

/** A frame in somebody's file, and not in the runtime's own code. */
const frameInFile = /^ +at (?:.*\()?(?:async )?(?:file:|data:|\/|[A-Za-z]:\\)/mu;

/**
 * Whose code a stray error came from: one that no promise's owner awaited, or thrown by a timer. A plugin's must not end the
 * platform. It is a plugin's when a frame of its stack lies in the plugin's folder, when it is a refused call of a client,
 * which only plugins make, or when it is no Error, which the platform never throws. What the runtime itself raises (a file
 * that is not there, a connection refused) has frames of nobody; the platform awaits all it does and listens to all it
 * opens, so where others' plugins run it is theirs.
 */
export function blamedPlugin(error: unknown, plugins: readonly Suspect[]): string | undefined {
  const stack = stackOf(error);
  const found = plugins.find(({ folder }) => stack.includes(folder + sep) || stack.includes(`${pathToFileURL(folder).href}/`));
  if (found !== undefined) return found.name;
  if (error instanceof ClientError || !(error instanceof Error)) return 'unknown';
  return plugins.some(({ bundled }) => !bundled) && !frameInFile.test(stack) ? 'unknown' : undefined;
}

/** Foreign errors are foreign objects: looking at one may throw. */
function stackOf(error: unknown): string {
  try {
    return error instanceof Error && typeof error.stack === 'string' ? error.stack : '';
  } catch {
    return '';
  }
}
