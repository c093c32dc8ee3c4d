import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { extname, join, normalize, sep } from 'node:path';

import { pluginManifestBytesMax } from '../../limits/plugins.ts';
import { valueAt } from '../../resource/object/json-pointer.ts';
import { yamlDocuments } from '../objects/yaml-documents.ts';
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
  /** The folder of the front end, which plugin.yaml names. */
  readonly frontEnd: FrontEndFolder;
};

type FrontEndFolder = {
  /** Undefined for a plugin without a front end. */
  readonly path: string | undefined;
  readonly manifest: Pick<FileMark, 'size' | 'modifiedMs'>;
};

/** Folders of dependencies and tests are not scanned, except for the folder of the front end, which is served. */
const foldersLeftOut = new Set(['node_modules', 'test', 'tests']);

const codeExtensions = new Set(['.js', '.mjs', '.cjs', '.json']);

/**
 * Scans a plugin's folder. `before` is the previous scan of the folder. Returns undefined if plugin.yaml is missing.
 * Rejects after a transient error.
 */
export async function scanFiles(root: string, before?: FilesScan): Promise<FilesScan | undefined> {
  const manifest = await markOf(join(root, 'plugin.yaml'));
  // A folder without a plugin.yaml is not a plugin, and may be large.
  if (manifest === undefined) return undefined;
  const frontEnd = await frontEndOf(root, manifest, before?.frontEnd);
  const isIn = placesOf(frontEnd.path);
  const files: FileMark[] = [];
  const folders: string[] = [];
  const waiting = [''];
  for (let inner = waiting.shift(); inner !== undefined && files.length < filesWatchedMax; inner = waiting.shift()) {
    folders.push(join(root, inner));
    for (const entry of await entriesOf(join(root, inner))) {
      const path = join(inner, entry.name);
      if (entry.isDirectory() && isIn.folder(path)) waiting.push(path);
      const mark = entry.isDirectory() || !isIn.part(path) ? undefined : await markOf(join(root, path));
      if (mark !== undefined) files.push({ path, size: mark.size, modifiedMs: mark.mtimeMs });
    }
  }
  files.sort((left, right) => (left.path < right.path ? -1 : 1));
  if (!files.some(({ path }) => path === 'plugin.yaml')) return undefined;
  return {
    files,
    folders,
    frontEnd,
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

/** Returns the folder of the front end. The manifest is read only if it has changed since the previous scan. */
async function frontEndOf(
  root: string,
  { size, mtimeMs }: Stats,
  before: FrontEndFolder | undefined,
): Promise<FrontEndFolder> {
  if (before?.manifest.size === size && before.manifest.modifiedMs === mtimeMs) return before;
  const manifest = { size, modifiedMs: mtimeMs };
  const content =
    size > pluginManifestBytesMax
      ? undefined
      : await contentOf(join(root, 'plugin.yaml')).catch(unlessTransient(undefined));
  // The folder's path is valid only without `${domain}`, so the domain is not needed.
  const yaml = yamlDocuments(Buffer.from(content ?? '').toString(), '');
  const folder = yaml.ok ? valueAt(yaml.documents[0], '/spec/console') : undefined;
  return { manifest, path: typeof folder === 'string' ? normalize(folder).replace(/[/\\]$/u, '') : undefined };
}

type Places = {
  /** Returns whether a folder is scanned. */
  readonly folder: (path: string) => boolean;
  /** Returns whether a file is a part of the plugin. */
  readonly part: (path: string) => boolean;
};

function placesOf(frontEnd: string | undefined): Places {
  const root = frontEnd === '.' ? '' : `${frontEnd ?? ''}${sep}`;
  const isServed = (path: string): boolean => {
    const inner = frontEnd !== undefined && path.startsWith(root) ? path.slice(root.length).split(sep) : undefined;
    return inner?.every((name) => !name.startsWith('.')) === true;
  };
  const isLeftOut = (names: readonly string[]): boolean =>
    names.some((name) => foldersLeftOut.has(name) || name.startsWith('.'));
  return {
    folder: (path) => isServed(path) || root.startsWith(path + sep) || !isLeftOut(path.split(sep)),
    part: (path) =>
      path === 'plugin.yaml' ||
      (isServed(path) && isWebFile(path)) ||
      (!isLeftOut(path.split(sep).slice(0, -1)) &&
        (codeExtensions.has(extname(path)) || objectFolders.some((folder) => path.startsWith(folder + sep)))),
  };
}

async function entriesOf(folder: string): ReturnType<typeof readFolder> {
  return readFolder(folder).catch(unlessTransient([]));
}

async function readFolder(folder: string) {
  return readdir(folder, { withFileTypes: true });
}

/**
 * Returns the metadata of a regular file; undefined for other entries, because reading a pipe or device may never end.
 */
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
