import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { StartError } from '../base/start-error.ts';

/**
 * What LMDB's file begins with: two meta pages, of which the one with the higher transaction counts (`mdb.c`, MDB_meta, format
 * 2 with the library's page header of 24 bytes). All numbers are little-endian on the machines it runs on.
 */
const headerBytes = 24;
const metaBytes = 160;
const magic = 0xbeefc0de;
const format = 2;
const at = { magic: headerBytes, format: headerBytes + 4, pageBytes: headerBytes + 24, lastPage: headerBytes + 120, transaction: headerBytes + 128 } as const;

/**
 * LMDB maps its file and trusts it: one that is cut short or is no such file ends the process by a signal, without a word.
 * This looks before it is opened. A missing or empty file is a new one. `remedy` tells the operator what can be done.
 */
export function refuseDamagedFile(path: string, remedy: string): void {
  const problem = problemOf(path);
  if (problem !== undefined) throw new StartError(`${path} is damaged: ${problem}; ${remedy}`, { exitCode: 1 });
}

/**
 * Where there are read models there was a log, written to disk before them. One that is gone would be founded anew, and
 * the read models thrown away or refused for it: what the log held would be gone without a word.
 */
export function refuseLostLog(dataDir: string): void {
  const [log, tables] = [join(dataDir, 'log'), join(dataDir, 'read-models')];
  const path = join(log, 'data.mdb');
  const exists = existsSync(path);
  if ((exists && statSync(path).size > 0) || !existsSync(join(tables, 'tables.mdb'))) return;
  const problem = `${path} is ${exists ? 'empty' : 'missing'}, but ${tables} holds read models of a log`;
  const restore = `restore ${log} from a backup, then run ledgerplane log new-epoch`;
  throw new StartError(`${problem}; ${restore}; or, to begin with an empty log, remove ${tables}`, { exitCode: 1 });
}

function problemOf(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const { size } = fstatSync(file);
    return size === 0 ? undefined : judged(file, size);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new StartError(`${path} cannot be read: ${String(error)}`, { exitCode: 2, cause: error });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function judged(file: number, size: number): string | undefined {
  const first = metaAt(file, 0);
  if (first === undefined) return 'it does not begin as LMDB\'s files do';
  const second = metaAt(file, first.pageBytes);
  const { lastPage, pageBytes } = second !== undefined && second.transaction > first.transaction ? second : first;
  const needed = (lastPage + 1n) * BigInt(pageBytes);
  return BigInt(size) < needed ? `it has ${String(size)} bytes and should have at least ${String(needed)}` : undefined;
}

type Meta = { readonly pageBytes: number; readonly lastPage: bigint; readonly transaction: bigint };

function metaAt(file: number, offset: number): Meta | undefined {
  const page = Buffer.alloc(metaBytes);
  if (readSync(file, page, 0, metaBytes, offset) < metaBytes) return undefined;
  if (page.readUInt32LE(at.magic) !== magic || page.readUInt32LE(at.format) !== format) return undefined;
  return { pageBytes: page.readUInt32LE(at.pageBytes), lastPage: page.readBigUInt64LE(at.lastPage), transaction: page.readBigUInt64LE(at.transaction) };
}
