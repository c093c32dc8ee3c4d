import type { RecordReader } from '../../log/lmdb/lmdb-records.ts';
import { BackupRefusedError } from './backup-errors.ts';
import type { BackupChain } from './backup-folder.ts';
import type { BackupTask } from './backup-task.ts';
import { hexDigest, shownPosition } from './manifest.ts';

type BackedUpLog = {
  readonly identity: BackupTask['identity'];
  readonly source: RecordReader;
};

/**
 * Checks that the log continues the backups in the folder, which belong to one epoch of one log. A restored server has
 * a new epoch, and thus does not continue the folder of the server that it replaces. Within an epoch, an equal record
 * at the last position proves that all earlier records are equal.
 *
 * @throws BackupRefusedError if the log does not continue the backups.
 */
export function assertContinued(folder: string, { manifests }: BackupChain, { identity, source }: BackedUpLog): void {
  const before = manifests.at(-1);
  if (before === undefined) return;
  const { logId, epoch, last, lastRecord } = before;
  const refuse = (detail: string): BackupRefusedError =>
    new BackupRefusedError('already-exists', `${folder} has ${detail}; choose another name`);
  if (logId !== identity.logId)
    throw refuse(`backups of log ${logId}, but the log of this server is ${identity.logId}`);
  if (epoch !== identity.epoch)
    throw refuse(
      `backups of epoch ${String(epoch)} of this log, which is in epoch ${String(identity.epoch)} on this server: ` +
        'each restore begins an epoch, and a folder belongs to one epoch',
    );
  const [record] = last > source.last ? [] : source.take(last, last, 1);
  if (record !== undefined && hexDigest(record.bytes) === lastRecord) return;
  throw refuse(
    `events up to position ${shownPosition(last, epoch)} that this log does not have: ` +
      'they are from before a restore of this log',
  );
}
