import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { pathToFileURL } from 'node:url';

import { ClientError } from '../api/plugin.ts';
import { withSourcePlaces } from './source-maps.ts';
import { placeInStack } from './thrown-place.ts';

/** A folder from which code of the plugin `name` was run. */
export type CodeFolder = {
  readonly name: string;
  readonly folder: string;
  readonly bundled: boolean;
};

/**
 * The maximum number of folders. Each version of an upgraded plugin has its own folder. Above the limit, the oldest
 * folder is dropped. Errors of the code in a dropped folder are no longer attributed to a plugin.
 */
export const suspectsMax = 1_024;

/** Matches a stack frame in a file. Frames in the code of Node itself do not match. */
const frameInFile = /^ +at (?:.*\()?(?:async )?(?:file:|data:|\/|[A-Za-z]:\\)/mu;

/**
 * All folders from which code of plugins was run. Timers and promises of a plugin can outlive the plugin's stop,
 * upgrade or uninstall, so their folders remain in the list.
 */
export class CodeFolders {
  /** The folders by path. The folder from which code was loaded most recently is the last entry. */
  readonly #suspects = new Map<string, CodeFolder>();
  readonly #listeners = new Set<(suspects: readonly CodeFolder[]) => void>();

  /** Adds a folder. Call `add` before the code in the folder runs. */
  add({ name, folder, bundled }: CodeFolder): void {
    const real = realFolder(folder);
    this.#suspects.delete(real);
    this.#suspects.set(real, { name, folder: real, bundled });
    for (const oldest of [...this.#suspects.keys()].slice(0, -suspectsMax)) this.#suspects.delete(oldest);
    for (const listener of this.#listeners) listener(this.all());
  }

  all(): readonly CodeFolder[] {
    return [...this.#suspects.values()];
  }

  /** Calls the listener with all folders, now and after each addition. */
  follow(listener: (suspects: readonly CodeFolder[]) => void): void {
    this.#listeners.add(listener);
    listener(this.all());
  }

  /**
   * Returns the place in the plugin's code at which an error was thrown, as in `placeInStack`. If several folders of
   * the plugin are in the stack, the folder that was added last is used.
   */
  placeOf(name: string, stack: string): string {
    return placeInStack(
      stack,
      this.all()
        .filter((suspect) => suspect.name === name)
        .map(({ folder }) => folder)
        .reverse(),
    );
  }

  /** Returns the stack with places in sources instead of places in compiled files, where source maps exist. */
  inSources(stack: string): string {
    return withSourcePlaces(stack, [...this.#suspects.keys()].reverse());
  }

  /** Returns the plugin that threw an uncaught error, as in `attributeError`. */
  pluginOf(error: unknown): string | undefined {
    return attributeError(error, this.all());
  }
}

/**
 * Returns the plugin that threw an uncaught error. Returns undefined for an error of the platform, and `unknown` for an
 * error of an unidentified plugin. A plugin's error must not end the server.
 *
 * An error belongs to a plugin if a stack frame is in the plugin's folder. A `ClientError` also belongs to a plugin. A
 * value that is not an `Error` belongs to a plugin, because the platform throws only `Error` objects. An error that
 * Node raises (a missing file, a refused connection) has no frames in files. The platform handles such errors of its
 * own calls. An uncaught error without frames in files thus belongs to a plugin, if a plugin that is not bundled has
 * run.
 */
export function attributeError(error: unknown, suspects: readonly CodeFolder[]): string | undefined {
  const stack = stackOf(error);
  const found = ownerOf(stack, suspects);
  if (found !== undefined) return found.name;
  if (error instanceof ClientError || !(error instanceof Error)) return 'unknown';
  return suspects.some(({ bundled }) => !bundled) && !frameInFile.test(stack) ? 'unknown' : undefined;
}

/** Returns the folder that the stack mentions first. Of nested folders, returns the innermost folder. */
export function ownerOf(stack: string, suspects: readonly CodeFolder[]): CodeFolder | undefined {
  const found = suspects
    .map((suspect) => ({ suspect, at: offsetIn(stack, suspect.folder) }))
    .filter(({ at }) => at >= 0);
  return found.sort((one, other) => one.at - other.at || other.suspect.folder.length - one.suspect.folder.length)[0]
    ?.suspect;
}

function offsetIn(stack: string, folder: string): number {
  const found = [`${folder}${sep}`, `${pathToFileURL(folder).pathname}/`]
    .map((prefix) => stack.indexOf(prefix))
    .filter((at) => at >= 0);
  return found.length === 0 ? -1 : Math.min(...found);
}

/** Returns the real path of the folder, because stack frames contain real paths. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

/**
 * Returns the stack, or '' without a readable stack. A plugin may throw any value, even an object that throws when a
 * property is read.
 */
function stackOf(error: unknown): string {
  try {
    return error instanceof Error && typeof error.stack === 'string' ? error.stack : '';
  } catch {
    return '';
  }
}
