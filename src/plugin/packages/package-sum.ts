import { createHash, hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { packageReadsMax } from './package-limits.ts';

/**
 * Maps each path in an unpacked package to a text: the hash of a file (`contentOf`), `folderContent` for a folder, or
 * `other` for any other entry.
 */
export type Contents = ReadonlyMap<string, string>;

export const folderContent = 'folder';

export function contentOf(bytes: Uint8Array): string {
  return hash('sha256', bytes);
}

/**
 * Returns a checksum of the path, kind and content of every file and folder. With `root`, only the entries within this
 * folder count, with their paths relative to the folder.
 */
export function sumOf(contents: Contents, root?: string): string {
  const prefix = root === undefined ? '' : `${root}/`;
  const inner = [...contents]
    .filter(([path]) => path.startsWith(prefix))
    .map(([path, content]) => ({ path: path.slice(prefix.length), content }));
  const sum = createHash('sha256');
  for (const { path, content } of inner.sort((left, right) => (left.path < right.path ? -1 : 1)))
    sum.update(`${JSON.stringify(path)} ${content}\n`);
  return sum.digest('hex');
}

/**
 * Returns the checksum (`sumOf`) of the entries in a folder on disk; undefined if the folder is missing or unreadable.
 */
export async function sumOfFolder(folder: string): Promise<string | undefined> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const contents = new Map<string, string>();
    const left = entries.values();
    // Reads several files concurrently, because reading a small file is mostly waiting.
    const lane = async (): Promise<void> => {
      for (const entry of left) {
        const path = join(entry.parentPath, entry.name);
        contents.set(
          path.slice(folder.length + 1),
          entry.isFile() ? contentOf(await readFile(path)) : entry.isDirectory() ? folderContent : 'other',
        );
      }
    };
    await Promise.all(Array.from({ length: packageReadsMax }, lane));
    return sumOf(contents);
  } catch {
    return undefined;
  }
}
