import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf } from '../../base/error-message.ts';
import { draftSuffix } from '../../disk/durable-file.ts';
import { backupManifestBytesMax } from '../../limits/backup.ts';
import { BackupDamagedError, BackupRefusedError } from './backup-errors.ts';
import {
  decodeManifest,
  manifestName,
  manifestPattern,
  partSuffix,
  segmentPattern,
  type Manifest,
} from './manifest.ts';

/**
 * The backups of one log in a folder, oldest first. `digest` is the digest of the newest manifest; undefined without
 * manifests.
 */
export type BackupChain = {
  readonly manifests: readonly Manifest[];
  readonly digest: string | undefined;
};

/** The pattern excludes paths and hidden files. */
const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/u;

/** `isNew`: the folder did not exist before. */
export type PreparedFolder = {
  readonly folder: string;
  readonly isNew: boolean;
};

/**
 * Returns the folder `name` in BACKUP_DIR. Creates the folder if needed.
 *
 * @throws BackupRefusedError if the name is invalid, if BACKUP_DIR or `name` is not a folder, or if the folder has
 *   foreign entries but no backup.
 */
export function prepareFolder(backupDir: string, name: string): PreparedFolder {
  if (!namePattern.test(name) || name.endsWith('.'))
    throw new BackupRefusedError(
      'bad-request',
      'the name of a backup must have 1 to 100 letters, digits, ".", "_" or "-", begin with a letter or digit, and ' +
        'not end with "."',
    );
  if (!isFolder(backupDir, true))
    throw new BackupRefusedError('not-found', `BACKUP_DIR ${backupDir} is not a folder: create it, or mount it`);
  const folder = join(backupDir, name);
  const isNew = !exists(folder);
  if (isNew) mkdirSync(folder, { mode: 0o700 });
  if (!isFolder(folder, false))
    throw new BackupRefusedError('already-exists', `${folder} is not a folder: choose another name`);
  const names = readdirSync(folder);
  const foreign = names.find((entry) => !isOurs(entry));
  if (foreign !== undefined && !names.some((entry) => manifestPattern.test(entry)))
    throw new BackupRefusedError(
      'already-exists',
      `${folder} is not a folder of backups, since it contains ${JSON.stringify(foreign.slice(0, 100))}: ` +
        'choose another name',
    );
  return { folder, isNew };
}

/**
 * Reads and checks all manifests, but not the segments.
 *
 * @throws BackupDamagedError that names the file.
 */
export function readChain(folder: string): BackupChain {
  const names = readdirSync(folder)
    .filter((name) => manifestPattern.test(name))
    .sort();
  const manifests: Manifest[] = [];
  let digest: string | undefined;
  for (const [index, name] of names.entries()) {
    const number = index + 1;
    if (name !== manifestName(number)) throw new BackupDamagedError(manifestName(number), 'it is missing');
    const decoded = decodeManifest(readManifest(folder, name), number);
    if (!decoded.ok) throw new BackupDamagedError(name, decoded.detail);
    const { manifest } = decoded;
    const before = manifests.at(-1);
    if (manifest.previous !== digest || manifest.first !== (before?.last ?? 0) + 1)
      throw new BackupDamagedError(
        name,
        `it ${before === undefined ? 'is not a first backup' : 'does not continue the previous backup'}`,
      );
    if (before !== undefined && manifest.logId !== before.logId)
      throw new BackupDamagedError(name, 'it belongs to another log than the previous backup');
    manifests.push(manifest);
    digest = decoded.digest;
  }
  return { manifests, digest };
}

/**
 * Checks that all segments exist with the sizes in the manifests, because an incremental backup must not continue a
 * chain with gaps.
 *
 * @throws BackupDamagedError that names the file.
 */
export function assertSegments(folder: string, { manifests }: BackupChain): void {
  for (const { file, bytes } of manifests.flatMap(({ segments }) => segments)) {
    const stats = lstatSync(join(folder, file), { throwIfNoEntry: false });
    if (stats === undefined) throw new BackupDamagedError(file, 'it is missing');
    if (!stats.isFile()) throw new BackupDamagedError(file, 'it is not a file');
    if (stats.size !== bytes)
      throw new BackupDamagedError(file, `it has ${String(stats.size)} bytes; the manifest says ${String(bytes)}`);
  }
}

/**
 * Checks that the file names of a new backup are free, because another server may write to the folder at the same time.
 * A lock would not help, because no lock works on every network file system.
 * @throws BackupRefusedError if a file with one of the names exists.
 */
export function assertFree(folder: string, names: readonly string[]): void {
  if (names.some((name) => exists(join(folder, name))))
    throw new BackupRefusedError(
      'already-exists',
      `${folder} was changed during the backup: another server writes to it; choose another name`,
    );
}

/** Removes the files of an incomplete backup: partial files, and segments that no manifest names. */
export function removeLeftovers(folder: string, { manifests }: BackupChain): void {
  const named = new Set(manifests.flatMap(({ segments }) => segments.map(({ file }) => file)));
  for (const name of readdirSync(folder)) {
    const isLeft = suffixOfPart(name) !== undefined ? isOurs(name) : segmentPattern.test(name) && !named.has(name);
    if (isLeft) rmSync(join(folder, name), { force: true });
  }
}

function readManifest(folder: string, name: string): Buffer {
  const path = join(folder, name);
  try {
    const stats = lstatSync(path);
    if (!stats.isFile()) throw new BackupDamagedError(name, 'it is not a file');
    if (stats.size > backupManifestBytesMax)
      throw new BackupDamagedError(name, `it has ${String(stats.size)} bytes, more than any manifest`);
    return readFileSync(path);
  } catch (cause) {
    if (cause instanceof BackupDamagedError) throw cause;
    throw new BackupDamagedError(name, `it cannot be read: ${messageOf(cause)}`, { cause });
  }
}

function isOurs(name: string): boolean {
  const suffix = suffixOfPart(name) ?? '';
  const whole = name.slice(0, name.length - suffix.length);
  return manifestPattern.test(whole) || segmentPattern.test(whole);
}

/**
 * Returns the suffix of an incomplete file: `draftSuffix` for a manifest, `partSuffix` for a segment; undefined for
 * other names.
 */
function suffixOfPart(name: string): string | undefined {
  return [partSuffix, draftSuffix].find((suffix) => name.endsWith(suffix));
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** With `mayBeLink`, a symbolic link to a folder counts as a folder. */
function isFolder(path: string, mayBeLink: boolean): boolean {
  const stats = (mayBeLink ? statSync : lstatSync)(path, { throwIfNoEntry: false });
  return stats?.isDirectory() === true;
}
