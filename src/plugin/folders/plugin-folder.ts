import { constants } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { basename, extname, isAbsolute, join, normalize, sep } from 'node:path';

import { messageOf } from '../../base/error-message.ts';
import { isObject } from '../../base/guards.ts';
import { decodeJson } from '../../base/json.ts';
import { pluginManifestBytesMax, pluginObjectFileBytesMax } from '../../limits/plugins.ts';
import { jsonDepthMax } from '../../limits/requests.ts';
import { unlessTransient } from './transient-errors.ts';

/**
 * A plugin's folder. The folder may be reached through a symbolic link. A manifest, object file or main module must not
 * be a symbolic link.
 */
export type PluginFolder = {
  readonly path: string;
  readonly name: string;
  readonly bundled: boolean;
};

export type FileText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly problem: string };

/**
 * Returns the folders in a folder of plugins, sorted by name. Skips `node_modules` and hidden folders. Rejects with an
 * `ENOENT` error if the folder of plugins is missing.
 */
export async function foldersIn(root: string, bundled: boolean): Promise<readonly PluginFolder[]> {
  const names = (await readdir(root)).filter((name) => !name.startsWith('.') && name !== 'node_modules').sort();
  const folders = await Promise.all(
    names.map(async (name): Promise<PluginFolder | undefined> => {
      const path = join(root, name);
      const isFolder = await stat(path).then((entry) => entry.isDirectory(), unlessTransient(false));
      const real = isFolder ? await realpath(path).catch(unlessTransient(undefined)) : undefined;
      return real === undefined ? undefined : { path: real, name, bundled };
    }),
  );
  return folders.filter((folder) => folder !== undefined);
}

export async function readManifest(folder: PluginFolder): Promise<FileText> {
  return readBounded(join(folder.path, 'plugin.yaml'), pluginManifestBytesMax);
}

export async function readPackageVersion(folder: PluginFolder): Promise<string | undefined> {
  const file = await readBounded(join(folder.path, 'package.json'), pluginManifestBytesMax);
  const decoded = file.ok ? decodeJson(Buffer.from(file.text), { depthMax: jsonDepthMax }) : undefined;
  const version = decoded?.ok === true && isObject(decoded.value) ? decoded.value['version'] : undefined;
  return typeof version === 'string' ? version : undefined;
}

/** The folders with shipped objects, in the source layout and in a packed plugin. */
export const objectFolders = [join('src', 'main', 'resources', 'extensions'), 'extensions'];
const objectFileExtensions = new Set(['.yaml', '.yml']);

/**
 * Reads the files with shipped objects, sorted by name within each folder. `path` is relative to the plugin's folder.
 */
export async function readObjectFiles(
  folder: PluginFolder,
): Promise<readonly { readonly path: string; readonly file: FileText }[]> {
  const listed = await Promise.all(
    objectFolders.map(async (inner) => {
      const names = await readdir(join(folder.path, inner)).catch((error: unknown) => {
        if (isMissing(error)) return [];
        throw error;
      });
      return names
        .filter((name) => objectFileExtensions.has(extname(name)))
        .sort()
        .map((name) => join(inner, name));
    }),
  );
  return Promise.all(
    listed.flat().map(async (path) => {
      const whole = join(folder.path, path);
      const isInside = await realpath(whole).then(
        (real) => real === whole,
        () => true,
      );
      return {
        path,
        file: isInside
          ? await readBounded(whole, pluginObjectFileBytesMax)
          : ({ ok: false, problem: 'must not be a symbolic link or below one' } as const),
      };
    }),
  );
}

/** Returns the path of the main module, or the reason why `spec.main` is invalid. */
export async function mainPath(
  folder: PluginFolder,
  main: string,
): Promise<{ readonly ok: true; readonly path: string } | { readonly ok: false; readonly problem: string }> {
  const inner = normalize(main);
  if (isAbsolute(inner) || inner === '..' || inner.startsWith(`..${sep}`))
    return { ok: false, problem: `spec.main ${JSON.stringify(main)} is outside of the plugin's folder` };
  const path = join(folder.path, inner);
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return { ok: false, problem: `spec.main ${JSON.stringify(main)} does not exist` };
  if (real !== path)
    return { ok: false, problem: `spec.main ${JSON.stringify(main)} must not be a symbolic link or below one` };
  const isFile = await stat(path).then(
    (entry) => entry.isFile(),
    () => false,
  );
  return isFile ? { ok: true, path } : { ok: false, problem: `spec.main ${JSON.stringify(main)} is not a file` };
}

async function readBounded(path: string, bytesMax: number): Promise<FileText> {
  let file;
  try {
    // Without O_NONBLOCK, opening a pipe waits until another process writes to the pipe.
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return {
      ok: false,
      problem: isMissing(error) ? `${basename(path)} does not exist` : `cannot be read: ${messageOf(error)}`,
    };
  }
  try {
    const entry = await file.stat();
    const { size } = entry;
    if (!entry.isFile()) return { ok: false, problem: 'is not a file' };
    if (size > bytesMax) return { ok: false, problem: `must be at most ${String(bytesMax)} bytes, is ${String(size)}` };
    return { ok: true, text: await file.readFile('utf8') };
  } finally {
    await file.close();
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
