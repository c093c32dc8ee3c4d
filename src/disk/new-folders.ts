import { existsSync, readdirSync, rmdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** Returns the missing folders among the folder and its ancestors, innermost first. */
export function missingFolders(path: string): readonly string[] {
  return existsSync(path) || dirname(path) === path ? [] : [path, ...missingFolders(dirname(path))];
}

/**
 * Removes empty folders that a failed operation has created. `folders` has the innermost folder first. Stops at the
 * first folder with other entries.
 */
export function removeEmptyFolders(folders: readonly string[]): void {
  for (const folder of folders) {
    if (!existsSync(folder)) continue;
    if (readdirSync(folder).length > 0) return;
    rmdirSync(folder);
  }
}
