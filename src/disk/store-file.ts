import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { StartError } from '../base/start-error.ts';
import { areFree } from './free-pages.ts';

/**
 * The layout of LMDB's file, which begins with two meta pages. The meta page with the higher transaction id is valid
 * (`mdb.c`, MDB_meta, format 2). All numbers are little-endian.
 */
const headerBytes = 24;
const metaBytes = 160;
const magic = 0xbeefc0de;
const format = 2;
const at = {
  magic: headerBytes,
  format: headerBytes + 4,
  pageBytes: headerBytes + 24,
  freeRoot: headerBytes + 64,
  lastPage: headerBytes + 120,
  transaction: headerBytes + 128,
} as const;

/**
 * Rejects a truncated file, and a file in another format, before LMDB maps the file. Such a file would otherwise end
 * the process by a signal, without a message. A missing or empty file is valid. `remedy` is advice for the operator.
 *
 * @throws StartError for an invalid or unreadable file.
 */
export function refuseDamagedFile(path: string, remedy: string): void {
  const problem = problemOf(path);
  if (problem !== undefined) throw new StartError(`${path} is damaged: ${problem}; ${remedy}`, { exitCode: 1 });
}

/** The folder in DATA_DIR for a restored log that is not complete and verified yet. */
export const restoringFolder = 'log.restoring';

/**
 * Rejects a DATA_DIR with an unfinished restore. Otherwise, the server would found a new log beside the restored log.
 */
export function refuseUnfinishedRestore(dataDir: string): void {
  const path = join(dataDir, restoringFolder);
  if (!existsSync(path)) return;
  throw new StartError(
    `${path} belongs to an unfinished restore: run ledgerplane restore again, or remove the folder to start without ` +
      'a restore',
    { exitCode: 2 },
  );
}

/**
 * Rejects read models without a log, because the log was lost. Otherwise, the server would found a new log and lose the
 * old data silently.
 */
export function refuseLostLog(dataDir: string): void {
  const [log, tables] = [join(dataDir, 'log'), join(dataDir, 'read-models')];
  const path = join(log, 'data.mdb');
  const exists = existsSync(path);
  if ((exists && statSync(path).size > 0) || !existsSync(join(tables, 'tables.mdb'))) return;
  const problem = `${path} is ${exists ? 'empty' : 'missing'}, but ${tables} contains read models of a log`;
  const restore = `restore ${log} from a backup, then run ledgerplane log new-epoch`;
  throw new StartError(`${problem}; ${restore}; or, to start with an empty log, remove ${tables}`, { exitCode: 1 });
}

function problemOf(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const { size } = fstatSync(file);
    return size === 0 ? undefined : headerProblem(file, size);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new StartError(`${path} cannot be read: ${String(error)}`, { exitCode: 2, cause: error });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function headerProblem(file: number, size: number): string | undefined {
  const first = metaAt(file, 0);
  if (first === undefined) return 'the file does not start with the header of an LMDB file';
  const second = metaAt(file, first.pageBytes);
  const meta = second !== undefined && second.transaction > first.transaction ? second : first;
  const { lastPage: last, pageBytes, freeRoot } = meta;
  const needed = (last + 1n) * BigInt(pageBytes);
  if (BigInt(size) >= needed) return undefined;
  const from = BigInt(size) / BigInt(pageBytes);
  if (size % pageBytes === 0 && areFree({ file, pageBytes }, freeRoot, { from, last })) return undefined;
  return `its size is ${String(size)} bytes, but it must be at least ${String(needed)} bytes`;
}

type Meta = {
  readonly pageBytes: number;
  readonly lastPage: bigint;
  /** The root page of the table of free pages. */
  readonly freeRoot: bigint;
  readonly transaction: bigint;
};

function metaAt(file: number, offset: number): Meta | undefined {
  const page = Buffer.alloc(metaBytes);
  if (readSync(file, page, 0, metaBytes, offset) < metaBytes) return undefined;
  if (page.readUInt32LE(at.magic) !== magic || page.readUInt32LE(at.format) !== format) return undefined;
  return {
    pageBytes: page.readUInt32LE(at.pageBytes),
    lastPage: page.readBigUInt64LE(at.lastPage),
    freeRoot: page.readBigUInt64LE(at.freeRoot),
    transaction: page.readBigUInt64LE(at.transaction),
  };
}
