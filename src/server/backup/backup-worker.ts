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

/** The main function of a backup thread, which runs one backup and ends. */
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
    // The message is posted after the removal of incomplete files.
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

/** Whether the module runs as a backup thread: the module is also loaded by the code that starts the thread. */
function isTask(data: unknown): data is BackupTask {
  return typeof data === 'object' && data !== null && 'backupDir' in data && 'stop' in data;
}
