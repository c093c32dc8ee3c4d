import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

import type { WebFile } from '../../plugin/api/front-end.ts';

/**
 * Returns the names and sizes of the files of the built console. `folder` is the absolute path of the build's output.
 * Returns no files if the folder does not exist. The names have forward slashes.
 */
export async function readConsoleFiles(folder: string): Promise<ReadonlyMap<string, WebFile>> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    return new Map(await Promise.all(files.map(async (path) => entryOf(folder, path))));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return new Map();
    throw error;
  }
}

async function entryOf(folder: string, path: string): Promise<[name: string, file: WebFile]> {
  const { size } = await stat(path);
  const read = async (): Promise<Buffer | undefined> => readFile(path).catch(() => undefined);
  return [relative(folder, path).split(sep).join('/'), { bytes: size, read }];
}
