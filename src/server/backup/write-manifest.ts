import { closeSync, constants, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { syncFolder } from './backup-folder.ts';
import { encodeManifest, manifestName, partSuffix, type Manifest } from './manifest.ts';

/**
 * Writes a manifest, which completes the backup. The file gets its name after its contents are on disk. After an error
 * the file is removed.
 */
export function writeManifest(folder: string, manifest: Manifest): void {
  const path = join(folder, manifestName(manifest.number));
  const part = `${path}${partSuffix}`;
  const bytes = encodeManifest(manifest);
  try {
    const file = openSync(
      part,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      0o600,
    );
    try {
      for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(part, path);
    syncFolder(folder);
  } catch (error) {
    for (const written of [path, part]) rmSync(written, { force: true });
    throw error;
  }
}
