import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';

import { fileComparedBytesMax, filesWatchedMax } from '../lifecycle/life-limits.ts';
import { unlessPassing } from './passing-errors.ts';
import { objectFolders } from './plugin-folder.ts';

/** A file that makes a plugin what it is, as the file system describes it. */
type FileMark = { readonly path: string; readonly size: number; readonly modifiedMs: number };

/** What lies in a plugin's folder, looked at once. `signature` is cheap and changes whenever a file may have. */
export type FilesLook = { readonly files: readonly FileMark[]; readonly folders: readonly string[]; readonly signature: string };

/** A build or a run of a plugin's own tests is no change of the plugin. */
const foldersLeftOut = new Set(['node_modules', 'test', 'tests']);

const codeExtensions = new Set(['.js', '.mjs', '.cjs', '.json']);

/** undefined: the folder or its plugin.yaml is not there. Throws when that cannot be told now. */
export async function lookAtFiles(root: string): Promise<FilesLook | undefined> {
  // Whatever else lies there may be large, and is nobody's.
  if (await markOf(join(root, 'plugin.yaml')) === undefined) return undefined;
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
  return { files, folders, signature: files.map(({ path, size, modifiedMs }) => `${path}\n${String(size)} ${String(modifiedMs)}`).join('\n') };
}

/** Equal exactly when the plugin is the same: a file that was only touched makes no difference. */
export async function digestOf(root: string, { files }: FilesLook): Promise<string> {
  const hash = createHash('sha256');
  for (const { path, size, modifiedMs } of files) {
    hash.update(`${path}\0${String(size)}\0`);
    const content = size > fileComparedBytesMax ? undefined : await contentOf(join(root, path)).catch(unlessPassing(undefined));
    hash.update(content ?? String(modifiedMs));
  }
  return hash.digest('hex');
}

function isPart(path: string): boolean {
  return path === 'plugin.yaml' || codeExtensions.has(extname(path)) || objectFolders.some((folder) => path.startsWith(folder + sep));
}

async function entriesOf(folder: string): ReturnType<typeof readFolder> {
  return readFolder(folder).catch(unlessPassing([]));
}

async function readFolder(folder: string) {
  return readdir(folder, { withFileTypes: true });
}

/** Of a file. A pipe or a device is no part of anything, and reading one may never end. */
async function markOf(path: string): Promise<Stats | undefined> {
  return stat(path).then((mark) => (mark.isFile() ? mark : undefined)).catch(unlessPassing(undefined));
}

/** undefined: it is no file, or larger than what is compared, by now. */
async function contentOf(path: string): Promise<Uint8Array | undefined> {
  // Without O_NONBLOCK opening a pipe would wait for its writer for ever.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const mark = await file.stat();
    return mark.isFile() && mark.size <= fileComparedBytesMax ? await file.readFile() : undefined;
  } finally {
    await file.close();
  }
}
