import { closeSync, openSync, readSync } from 'node:fs';

/**
 * Whether the newest transaction in LMDB's data file is the last commit according to the lock file. The transactions
 * differ if an older copy was written over the data file. Returns false if a file cannot be read.
 *
 * The offsets follow LMDB's structures on Linux (`mdb.c`: MDB_txbody and MDB_meta). The page header of the `lmdb`
 * package has 24 bytes.
 */
export function endsAsCommitted(path: string): boolean {
  const lock = bytesOf(`${path}-lock`, lockBytes);
  const data = bytesOf(path, 2 * pageBytesMax);
  if (lock === undefined || data === undefined || lock.readUInt32LE(0) !== magic) return false;
  const committed = lock.readBigUInt64LE(at.committed);
  const last = lastTransaction(data);
  return last !== undefined && last === committed;
}

const magic = 0xbeefc0de;
const lockBytes = 16;
const headerBytes = 24;
const metaBytes = 160;
const pageBytesMax = 65_536;
const at = { committed: 8, magic: headerBytes, pageBytes: headerBytes + 24, transaction: headerBytes + 128 } as const;

/** The transaction id of the newer of the two meta pages at the start of the file. */
function lastTransaction(data: Buffer): bigint | undefined {
  const first = transactionAt(data, 0);
  if (first === undefined) return undefined;
  const second = transactionAt(data, data.readUInt32LE(at.pageBytes));
  return second !== undefined && second > first ? second : first;
}

function transactionAt(data: Buffer, offset: number): bigint | undefined {
  if (data.length < offset + metaBytes || data.readUInt32LE(offset + at.magic) !== magic) return undefined;
  return data.readBigUInt64LE(offset + at.transaction);
}

/**
 * The first `count` bytes of a file, or all bytes of a shorter file. Undefined if the file cannot be read or is shorter
 * than a lock header.
 */
function bytesOf(path: string, count: number): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const bytes = Buffer.alloc(count);
    const read = readSync(file, bytes, 0, count, 0);
    return read < lockBytes ? undefined : bytes.subarray(0, read);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
