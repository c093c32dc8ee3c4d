import { closeSync, existsSync, openSync, rmSync, statSync, writeSync, type Stats } from 'node:fs';

import { lmdbLockBytes } from '../limits/disk.ts';

/** LMDB's flag for a store in a single file instead of a folder. */
const noSubdir = 0x4000;
const integerKeys = 0x08;
const metaPage = 0x08;
const magic = 0xbeefc0de;
const format = 2;
const pageBytes = 4_096;
const mapBytes = 0x2_0000;
const noPage = 0xffff_ffff_ffff_ffffn;

export type StoreFiles = {
  readonly data: string;
  readonly lock: string;
  readonly isFolder: boolean;
};

/**
 * Creates missing and incomplete files of a store, so that LMDB writes nothing while it opens the store. If such a
 * write failed, for example on a full disk, the process would abort (lmdb 3.5, `EnvWrap::openEnv`).
 *
 * LMDB's lock file is sparse and mapped, so an access to a page without a disk block ends the process by SIGBUS. This
 * function allocates the blocks, so that a full disk throws here.
 */
export function prepareStoreFiles({ data, lock, isFolder }: StoreFiles): void {
  if (!existsSync(data) || statSync(data).size === 0) write(data, emptyStore(isFolder));
  const present = existsSync(lock) ? statSync(lock) : undefined;
  // The caller has locked DATA_DIR, so no other process maps the lock file.
  const isWhole = present !== undefined && present.size >= lmdbLockBytes;
  if (!isWhole || isSparse(present)) write(lock, Buffer.alloc(lmdbLockBytes));
}

/** Returns whether some bytes of the file have no disk block. */
function isSparse({ blocks, size }: Stats): boolean {
  return blocks * 512 < size;
}

/** The two meta pages of an empty store, as `mdb_env_init_meta` writes them. */
function emptyStore(isFolder: boolean): Buffer {
  const bytes = Buffer.alloc(2 * pageBytes);
  for (const page of [0, 1]) {
    const at = page * pageBytes;
    bytes.writeUInt32LE(page, at);
    bytes.writeUInt16LE(metaPage, at + 18);
    bytes.writeUInt32LE(magic, at + 24);
    bytes.writeUInt32LE(format, at + 28);
    bytes.writeUInt32LE(mapBytes, at + 40);
    bytes.writeUInt32LE(pageBytes, at + 48);
    bytes.writeUInt16LE(integerKeys | (isFolder ? 0 : noSubdir), at + 52);
    for (const root of [88, 136]) bytes.writeBigUInt64LE(noPage, at + root);
    bytes.writeUInt32LE(1, at + 144);
  }
  return bytes;
}

/**
 * Writes the whole file. Deletes the file after any error, including an error of `closeSync`, which may report a failed
 * write.
 */
function write(path: string, bytes: Buffer): void {
  const file = openSync(path, 'w', 0o600);
  try {
    writeAndClose(file, bytes);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}

function writeAndClose(file: number, bytes: Buffer): void {
  try {
    for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
  } finally {
    closeSync(file);
  }
}
