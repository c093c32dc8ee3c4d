import { parentPort, workerData } from 'node:worker_threads';

import { showByteCount } from '../../base/byte-count.ts';
import { messageOf } from '../../base/error-message.ts';
import { isDiskFull } from '../../disk/resource-failure.ts';
import { BackupRefusedError, BackupStoppedError } from './backup-errors.ts';
import { endOnRequest } from '../threads/end-on-request.ts';
import { yieldToRequests } from '../threads/yield-to-requests.ts';
import type { BackupMessage, BackupTask } from './backup-task.ts';
import { BackupRun } from './write-backup.ts';

export const backupWorkerUrl: string = import.meta.url;

/** Runs one backup in this thread. */
async function run(task: BackupTask): Promise<void> {
  const post = (message: BackupMessage): void => {
    parentPort?.postMessage(message);
  };
  const backup = new BackupRun(task, {
    post,
    isStopped: () => Atomics.load(task.stop, 0) !== 0,
  });
  let last: BackupMessage | undefined;
  try {
    await backup.run();
  } catch (error) {
    last = endOf(error, backup);
  } finally {
    await backup.close();
    // The last message is sent after the incomplete files are removed.
    if (last !== undefined) post(last);
    parentPort?.close();
  }
}

function endOf(error: unknown, backup: BackupRun): BackupMessage | undefined {
  if (error instanceof BackupStoppedError) return undefined;
  if (error instanceof BackupRefusedError && !backup.isAccepted)
    return { kind: 'refused', reason: error.reason, detail: error.message };
  const isFull = isDiskFull(error);
  const needed = showByteCount(backup.neededBytes());
  const advice = `the backup needs about ${needed}: free some space on this disk, or enlarge the disk`;
  const text = messageOf(error);
  return { kind: 'failed', detail: isFull ? `the disk of BACKUP_DIR is full: ${text}; ${advice}` : text };
}

if (parentPort !== null && isTask(workerData)) {
  yieldToRequests();
  endOnRequest();
  void run(workerData);
}

/** Returns whether the module runs as a backup thread. The code that starts the thread also loads this module. */
function isTask(data: unknown): data is BackupTask {
  return typeof data === 'object' && data !== null && 'backupDir' in data && 'stop' in data;
}
