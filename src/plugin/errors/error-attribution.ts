import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { pathToFileURL } from 'node:url';

import { ClientError } from '../api/plugin.ts';
import { placeInStack } from './thrown-place.ts';

/** A folder with code that was run, and its plugin. */
export type CodeFolder = { readonly name: string; readonly folder: string; readonly bundled: boolean };

/**
 * Each version of an upgraded plugin has its own folder. Past the limit the oldest is dropped, and errors of its code
 * are attributed to no plugin.
 */
export const suspectsMax = 1_024;

/** A stack frame in a file, not in the runtime's own code. */
const frameInFile = /^ +at (?:.*\()?(?:async )?(?:file:|data:|\/|[A-Za-z]:\\)/mu;

/**
 * All folders from which code was run: a timer or a promise of a plugin can outlive its stop, upgrade or uninstall, and
 * its errors are still attributed to it.
 */
export class CodeFolders {
  /** The folders that may have caused an error, by path; the folder that ran last is the last entry. */
  readonly #suspects = new Map<string, CodeFolder>();
  readonly #listeners = new Set<(suspects: readonly CodeFolder[]) => void>();

  /** Call it before the code runs. */
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

  /** The position in this plugin's code where an error was thrown; the most recently loaded folder has priority. */
  placeOf(name: string, stack: string): string {
    return placeInStack(
      stack,
      this.all()
        .filter((suspect) => suspect.name === name)
        .map(({ folder }) => folder)
        .reverse(),
    );
  }

  /** The plugin that an uncaught error came from; undefined for an error of the platform. */
  pluginOf(error: unknown): string | undefined {
    return attributeError(error, this.all());
  }
}

/**
 * Attributes an uncaught error: a promise that nobody awaited, or an exception in a timer. A plugin's error must not
 * end the server. An error belongs to a plugin if a frame of its stack is in the plugin's folder, if it is a refusal of
 * a plugin's client, or if it is not an Error, which the platform never throws. An error raised by the runtime itself
 * (a missing file, a refused connection) has no frames. The platform awaits all its promises and listens to all its
 * emitters, so where other plugins run such an error is theirs.
 */
export function attributeError(error: unknown, suspects: readonly CodeFolder[]): string | undefined {
  const stack = stackOf(error);
  const found = ownerOf(stack, suspects);
  if (found !== undefined) return found.name;
  if (error instanceof ClientError || !(error instanceof Error)) return 'unknown';
  return suspects.some(({ bundled }) => !bundled) && !frameInFile.test(stack) ? 'unknown' : undefined;
}

/** The folder that contains the place, or the first place of several; of nested folders the innermost. */
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

/** Modules are identified by their real paths. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

/** A plugin may throw anything: reading a property of it may throw. */
function stackOf(error: unknown): string {
  try {
    return error instanceof Error && typeof error.stack === 'string' ? error.stack : '';
  } catch {
    return '';
  }
}
