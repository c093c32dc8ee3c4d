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
 * folder is dropped, and errors of the code in that folder are no longer attributed to a plugin.
 */
export const suspectsMax = 1_024;

/** Matches a stack frame in a file. Frames in the code of Node itself do not match. */
const frameInFile = /^ +at (?:.*\()?(?:async )?(?:file:|data:|\/|[A-Za-z]:\\)/mu;

/**
 * All folders from which code was run. A timer or a promise of a plugin can outlive the plugin's stop, upgrade or
 * uninstall, and later errors are still attributed to the plugin.
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

  /** Calls the listener with all entries, now and after each addition. */
  follow(listener: (suspects: readonly CodeFolder[]) => void): void {
    this.#listeners.add(listener);
    listener(this.all());
  }

  /**
   * Returns the place in the plugin's code at which an error was thrown (`placeInStack`). If several folders of the
   * plugin have a frame in the stack, the folder that was loaded last is used.
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

  /**
   * Returns the stack. If source maps exist, the places in compiled files of plugins are replaced by places in sources.
   */
  inSources(stack: string): string {
    return withSourcePlaces(stack, [...this.#suspects.keys()].reverse());
  }

  /** Returns the plugin that threw an uncaught error, like `attributeError`; undefined for an error of the platform. */
  pluginOf(error: unknown): string | undefined {
    return attributeError(error, this.all());
  }
}

/**
 * Returns the plugin that threw an uncaught error; undefined for an error of the platform, and `unknown` for an error
 * of an unidentified plugin. An uncaught error is an unhandled rejection, or an exception in a callback such as a
 * timer's. A plugin's error must not end the server.
 *
 * An error belongs to a plugin if a stack frame is in the plugin's folder, if the error is a `ClientError`, or if the
 * thrown value is not an `Error` (the platform throws only `Error` objects). An error that Node raises (a missing file,
 * a refused connection) has no frames in files. The platform awaits all of its promises and handles the errors of all
 * of its emitters, so an error without such frames belongs to a plugin if a plugin that is not bundled has run.
 */
export function attributeError(error: unknown, suspects: readonly CodeFolder[]): string | undefined {
  const stack = stackOf(error);
  const found = ownerOf(stack, suspects);
  if (found !== undefined) return found.name;
  if (error instanceof ClientError || !(error instanceof Error)) return 'unknown';
  return suspects.some(({ bundled }) => !bundled) && !frameInFile.test(stack) ? 'unknown' : undefined;
}

/**
 * Returns the folder that the stack mentions first; undefined if there is none. Of nested folders, the innermost one is
 * returned.
 */
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
 * Returns the stack, or '' if there is no readable stack. A plugin may throw any value, including an object with
 * properties that throw when they are read.
 */
function stackOf(error: unknown): string {
  try {
    return error instanceof Error && typeof error.stack === 'string' ? error.stack : '';
  } catch {
    return '';
  }
}
