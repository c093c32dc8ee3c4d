import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { pathToFileURL } from 'node:url';

import { ClientError } from '../api/plugin.ts';
import { placeInStack } from './thrown-place.ts';

/** A folder whose module was run, and whose it is. */
export type Suspect = { readonly name: string; readonly folder: string; readonly bundled: boolean };

/** A plugin that is upgraded has a folder a version; past it the oldest is forgotten, and what it left behind is nobody's. */
export const suspectsMax = 1_024;

/** A frame in somebody's file, and not in the runtime's own code. */
const frameInFile = /^ +at (?:.*\()?(?:async )?(?:file:|data:|\/|[A-Za-z]:\\)/mu;

/**
 * Every folder of which code was run: what a plugin leaves behind (a timer, a promise) outlives its stop, its upgrade and
 * its uninstalling, and is still known by its name.
 */
export class Suspects {
  /** By folder, the one that was run last at the end. */
  readonly #suspects = new Map<string, Suspect>();
  readonly #listeners = new Set<(suspects: readonly Suspect[]) => void>();

  /** Before its code runs. */
  add({ name, folder, bundled }: Suspect): void {
    const real = realFolder(folder);
    this.#suspects.delete(real);
    this.#suspects.set(real, { name, folder: real, bundled });
    for (const oldest of [...this.#suspects.keys()].slice(0, -suspectsMax)) this.#suspects.delete(oldest);
    for (const listener of this.#listeners) listener(this.all());
  }

  all(): readonly Suspect[] {
    return [...this.#suspects.values()];
  }

  /** Calls it with all there are, now and whenever one is added. */
  follow(listener: (suspects: readonly Suspect[]) => void): void {
    this.#listeners.add(listener);
    listener(this.all());
  }

  /** Where in this plugin's code something was thrown; what it was loaded from last goes before what it was loaded from once. */
  placeOf(name: string, stack: string): string {
    return placeInStack(stack, this.all().filter((suspect) => suspect.name === name).map(({ folder }) => folder).reverse());
  }

  /** The plugin whose code a stray error came from, that nobody awaited or caught; undefined when it is the platform's own. */
  blame(error: unknown): string | undefined {
    return blamedPlugin(error, this.all());
  }
}

/**
 * Whose code a stray error came from: one that no promise's owner awaited, or thrown by a timer. A plugin's must not end the
 * platform. It is a plugin's when a frame of its stack lies in the plugin's folder, when it is a refused call of a client,
 * which only plugins make, or when it is no Error, which the platform never throws. What the runtime itself raises (a file
 * that is not there, a connection refused) has frames of nobody; the platform awaits all it does and listens to all it
 * opens, so where others' plugins run it is theirs.
 */
export function blamedPlugin(error: unknown, suspects: readonly Suspect[]): string | undefined {
  const stack = stackOf(error);
  const found = ownerOf(stack, suspects);
  if (found !== undefined) return found.name;
  if (error instanceof ClientError || !(error instanceof Error)) return 'unknown';
  return suspects.some(({ bundled }) => !bundled) && !frameInFile.test(stack) ? 'unknown' : undefined;
}

/** In whose folder a place lies, or the first that lies in one of several: one in another's folder is the inner one's. */
export function ownerOf(places: string, suspects: readonly Suspect[]): Suspect | undefined {
  const found = suspects.map((suspect) => ({ suspect, at: placeIn(places, suspect.folder) })).filter(({ at }) => at >= 0);
  return found.sort((one, other) => one.at - other.at || other.suspect.folder.length - one.suspect.folder.length)[0]?.suspect;
}

function placeIn(places: string, folder: string): number {
  const found = [`${folder}${sep}`, `${pathToFileURL(folder).pathname}/`].map((prefix) => places.indexOf(prefix)).filter((at) => at >= 0);
  return found.length === 0 ? -1 : Math.min(...found);
}

/** Modules are known by where they really lie. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

/** Foreign errors are foreign objects: looking at one may throw. */
function stackOf(error: unknown): string {
  try {
    return error instanceof Error && typeof error.stack === 'string' ? error.stack : '';
  } catch {
    return '';
  }
}
