import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { VerifierKey } from '../../audit/proof/signed-note.ts';
import { showByteCount } from '../../base/byte-count.ts';
import { StartError } from '../../base/start-error.ts';
import { privateDir } from '../../disk/data-dir.ts';
import { diskSpaceNow } from '../../disk/disk-space.ts';
import { ResourceError, resourceFailure } from '../../disk/resource-failure.ts';
import { syncFolder } from '../../disk/durable-file.ts';
import { restoringFolder } from '../../disk/store-file.ts';
import { prepareStoreFiles } from '../../disk/store-files.ts';
import { restoreBatchBytesMax, restoreBatchRecordsMax } from '../../limits/backup.ts';
import { diskStartBytesMin } from '../../limits/disk.ts';
import { startRestoredEpoch, type EpochWriting } from '../../log-tools/log-epoch.ts';
import { openLmdbLog } from '../../log/lmdb/lmdb-log.ts';
import { RecordWriter, type RawRecord } from '../../log/lmdb/lmdb-records.ts';
import { BackupDamagedError, BackupForeignError } from './backup-errors.ts';
import { readChain } from './backup-folder.ts';
import { verifiedRecords, type VerifiedBackup } from './verify-backup.ts';

export type Restore = Omit<EpochWriting, 'signal'> & {
  readonly folder: string;
  /** DATA_DIR, which the caller has locked. */
  readonly dataDir: string;
  readonly keys: readonly VerifierKey[];
  readonly onRecord: () => void;
};

export type Restored = VerifiedBackup & { readonly epoch: number };

/**
 * The names that an unused DATA_DIR may contain: the server's lock, `lost+found` of a new file system, and the folder
 * of an unfinished restore.
 */
const unusedNames: ReadonlySet<string> = new Set(['lock.sock', 'lost+found', restoringFolder]);

/** @throws StartError if DATA_DIR has an entry that is not in `unusedNames`. */
export function refuseUsedDataDir(dataDir: string): void {
  if (!existsSync(dataDir)) return;
  const used = readdirSync(dataDir).find((name) => !unusedNames.has(name));
  if (used === undefined) return;
  throw new StartError(
    `DATA_DIR ${dataDir} is not empty: the folder has ${JSON.stringify(used)}; restore a backup into an empty folder`,
    { exitCode: 2 },
  );
}

/**
 * Writes the log of a backup into DATA_DIR and begins a new epoch. Before the whole backup is verified, the folder of
 * the log has a name that no server opens. After an error, the written files are removed.
 *
 * @throws BackupDamagedError if the backup is damaged.
 * @throws ResourceError if the disk is full.
 */
export async function restoreBackup({ folder, dataDir, keys, onRecord, ...ids }: Restore): Promise<Restored> {
  const needed = neededBytes(folder);
  assertRoom(dataDir, needed);
  const staging = join(dataDir, restoringFolder);
  rmSync(staging, { recursive: true, force: true });
  privateDir(staging);
  try {
    prepareStoreFiles({
      data: join(staging, 'data.mdb'),
      lock: join(staging, 'lock.mdb'),
      isFolder: true,
    });
    const verified = await writeRecords(staging, verifiedRecords(folder, keys), onRecord);
    const epoch = await beginEpoch(staging, ids);
    await syncFolder(staging);
    renameSync(staging, join(dataDir, 'log'));
    await syncFolder(dataDir);
    return { ...verified, epoch };
  } catch (error) {
    if (error instanceof BackupDamagedError || error instanceof BackupForeignError) throw error;
    // If a full disk cuts a write short, LMDB reports an I/O error of the device, so the free space is checked too.
    if (diskSpaceNow(dataDir).freeBytes < diskStartBytesMin || resourceFailure(error) !== undefined)
      throw fullDisk(dataDir, needed);
    throw error;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** Returns the bytes of all segments, plus the free space for the server's start. */
function neededBytes(folder: string): number {
  const segments = readChain(folder).manifests.flatMap((manifest) => manifest.segments);
  return segments.reduce((sum, { bytes }) => sum + bytes, diskStartBytesMin);
}

function assertRoom(dataDir: string, needed: number): void {
  if (diskSpaceNow(dataDir).freeBytes < needed) throw fullDisk(dataDir, needed);
}

function fullDisk(dataDir: string, needed: number): ResourceError {
  return new ResourceError(
    `the disk of ${dataDir} is full: ${showByteCount(diskSpaceNow(dataDir).freeBytes)} are free, and the restored ` +
      `log needs at least ${showByteCount(needed)} in all; free space on this disk or enlarge it, then start again`,
  );
}

async function writeRecords(
  dir: string,
  records: Generator<RawRecord, VerifiedBackup>,
  onRecord: () => void,
): Promise<VerifiedBackup> {
  const writer = await RecordWriter.create(dir);
  try {
    let [batch, bytes]: [RawRecord[], number] = [[], 0];
    for (;;) {
      const next = records.next();
      if (next.done === true) {
        writer.add(batch);
        return next.value;
      }
      batch.push(next.value);
      bytes += next.value.bytes.length;
      onRecord();
      if (batch.length < restoreBatchRecordsMax && bytes < restoreBatchBytesMax) continue;
      writer.add(batch);
      [batch, bytes] = [[], 0];
    }
  } finally {
    await writer.close();
  }
}

async function beginEpoch(dir: string, ids: Omit<EpochWriting, 'signal'>): Promise<number> {
  const failing = new AbortController();
  const log = await openLmdbLog({
    dir,
    onFatal: (error) => {
      failing.abort(error);
    },
  });
  try {
    return (await startRestoredEpoch(log, { ...ids, signal: failing.signal })).epoch;
  } finally {
    await log.close();
  }
}
