import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';

import { isWebFile } from './front-end-files.ts';
import { fileComparedBytesMax, filesWatchedMax } from '../lifecycle/life-limits.ts';
import { unlessTransient } from './transient-errors.ts';
import { objectFolders } from './plugin-folder.ts';

type FileMark = {
  readonly path: string;
  readonly size: number;
  readonly modifiedMs: number;
};

/**
 * One scan of a plugin's folder. `signature` is computed from file metadata, and changes if a file may have changed.
 */
export type FilesScan = {
  readonly files: readonly FileMark[];
  readonly folders: readonly string[];
  readonly signature: string;
};

/** Folders of dependencies and tests are not scanned. */
const foldersLeftOut = new Set(['node_modules', 'test', 'tests']);

const codeExtensions = new Set(['.js', '.mjs', '.cjs', '.json']);

/** Scans a plugin's folder. Returns undefined if plugin.yaml is missing. Rejects after a transient error. */
export async function scanFiles(root: string): Promise<FilesScan | undefined> {
  // A folder without a plugin.yaml is not a plugin, and may be large.
  if ((await markOf(join(root, 'plugin.yaml'))) === undefined) return undefined;
  const files: FileMark[] = [];
  const folders: string[] = [];
  const waiting = [''];
  for (let inner = waiting.shift(); inner !== undefined && files.length < filesWatchedMax; inner = waiting.shift()) {
    folders.push(join(root, inner));
    for (const entry of await entriesOf(join(root, inner))) {
      const path = join(inner, entry.name);
      if (entry.isDirectory() && !foldersLeftOut.has(entry.name) && !entry.name.startsWith('.')) waiting.push(path);
      const mark = entry.isDirectory() || !isPart(path) ? undefined : await markOf(join(root, path));
      if (mark !== undefined) files.push({ path, size: mark.size, modifiedMs: mark.mtimeMs });
    }
  }
  files.sort((left, right) => (left.path < right.path ? -1 : 1));
  if (!files.some(({ path }) => path === 'plugin.yaml')) return undefined;
  return {
    files,
    folders,
    signature: files.map(({ path, size, modifiedMs }) => `${path}\n${String(size)} ${String(modifiedMs)}`).join('\n'),
  };
}

/**
 * Returns a digest of the contents. The digest of a file that is unreadable or larger than `fileComparedBytesMax` uses
 * the file's size and modification time instead.
 */
export async function digestOf(root: string, { files }: FilesScan): Promise<string> {
  const hash = createHash('sha256');
  for (const { path, size, modifiedMs } of files) {
    hash.update(`${path}\0${String(size)}\0`);
    const content =
      size > fileComparedBytesMax ? undefined : await contentOf(join(root, path)).catch(unlessTransient(undefined));
    hash.update(content ?? String(modifiedMs));
  }
  return hash.digest('hex');
}

function isPart(path: string): boolean {
  return (
    path === 'plugin.yaml' ||
    codeExtensions.has(extname(path)) ||
    (path.split(sep).slice(0, -1).includes('console') && isWebFile(path)) ||
    objectFolders.some((folder) => path.startsWith(folder + sep))
  );
}

async function entriesOf(folder: string): ReturnType<typeof readFolder> {
  return readFolder(folder).catch(unlessTransient([]));
}

async function readFolder(folder: string) {
  return readdir(folder, { withFileTypes: true });
}

/** Returns the metadata of a regular file; undefined for other entries. Reading a pipe or device may never end. */
async function markOf(path: string): Promise<Stats | undefined> {
  return stat(path)
    .then((mark) => (mark.isFile() ? mark : undefined))
    .catch(unlessTransient(undefined));
}

/** Returns the contents of a file; undefined if the path is not a regular file, or if the file is too large. */
async function contentOf(path: string): Promise<Uint8Array | undefined> {
  // Without O_NONBLOCK, opening a pipe waits until another process writes to the pipe.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const mark = await file.stat();
    return mark.isFile() && mark.size <= fileComparedBytesMax ? await file.readFile() : undefined;
  } finally {
    await file.close();
  }
}
