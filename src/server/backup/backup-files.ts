import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';

import type { VerifierKey } from '../../audit/proof/signed-note.ts';
import { messageOf } from '../../base/error-message.ts';
import { StartError } from '../../base/start-error.ts';
import { verifierKeys } from '../../cli/audit/verifier-keys.ts';
import type { BackupFileCommands, BackupFileOptions } from '../../cli/backup/backup-commands.ts';
import type { CommandContext } from '../../cli/command-context.ts';
import { commandError, CommandFailure, usageError } from '../../cli/failure.ts';
import { printable } from '../../cli/text-table.ts';
import { decodeConfig, type Config } from '../../config/config.ts';
import { readEnvironment } from '../../config/environment.ts';
import { takeDataDir } from '../../disk/data-dir.ts';
import { missingFolders, removeEmptyFolders } from '../../disk/new-folders.ts';
import { resourceFailure } from '../../disk/resource-failure.ts';
import { CopyProgress } from '../../log-tools/log-copy-progress.ts';
import { LogCorruptError } from '../../log/log.ts';
import { BackupDamagedError, BackupRefusedError } from './backup-errors.ts';
import { readChain } from './backup-folder.ts';
import { shownRoot } from './backup-tree.ts';
import { refuseUsedDataDir, restoreBackup } from './restore-backup.ts';
import { verifiedRecords, type VerifiedBackup } from './verify-backup.ts';

/** The commands that read the files of backups, without a running server. */
export const backupFiles: BackupFileCommands = {
  verify: async (folder, options, context) => {
    await failing(async () => {
      const { path, keys, progress } = prepared(folder, options, context);
      progress.begin('verifying', eventsIn(path));
      const records = verifiedRecords(path, keys);
      let next = records.next();
      for (; next.done !== true; next = records.next()) progress.advance();
      progress.end();
      context.output.write(`verified: ${summaryOf(next.value)}`);
      await Promise.resolve();
    });
  },

  restore: async (folder, options, context) => {
    await failing(async () => {
      const { path, keys, progress } = prepared(folder, options, context);
      const { dataDir, eventLog } = configOf(context);
      if (eventLog.kind !== 'embedded')
        throw usageError(
          'EVENT_LOG is an EventStoreDB: restore the backup with EVENT_LOG=embedded:, ' +
            'then copy the embedded log with ledgerplane log copy',
        );
      refuseUsedDataDir(dataDir);
      const created = missingFolders(dataDir);
      const lock = await takeDataDir(dataDir);
      try {
        refuseUsedDataDir(dataDir);
        progress.begin('restoring', eventsIn(path));
        const onRecord = (): void => {
          progress.advance();
        };
        const ids = { clock: context.clock, uuid: randomUUID };
        const restored = await restoreBackup({ ...ids, folder: path, dataDir, keys, onRecord });
        progress.end();
        context.output.write(
          `restored: ${summaryOf(restored)}into DATA_DIR ${dataDir}, where epoch ${String(restored.epoch)} begins\n`,
        );
      } finally {
        await lock.release();
        removeEmptyFolders(created);
      }
    });
  },
};

type Prepared = {
  readonly path: string;
  readonly keys: readonly VerifierKey[];
  readonly progress: CopyProgress;
};

function prepared(folder: string, { key = [] }: BackupFileOptions, context: CommandContext): Prepared {
  const print = (line: string): void => {
    context.stderr.write(`${line}\n`);
  };
  return {
    path: resolve(context.folder, folder),
    keys: key.length === 0 ? [] : verifierKeys(key, context.folder),
    progress: new CopyProgress({ clock: context.clock, print }),
  };
}

function configOf({ folder, variables }: CommandContext): Config {
  const decoded = decodeConfig(readEnvironment(folder, variables), folder);
  if (!decoded.ok) throw usageError(decoded.mistakes.join('\n'));
  return decoded.config;
}

function eventsIn(folder: string): number {
  return readChain(folder).manifests.at(-1)?.last ?? 0;
}

function summaryOf({ latest, backups, signature }: VerifiedBackup): string {
  const count = (value: number): string => value.toLocaleString('en');
  const { logId, epoch, domain, last, time, tree } = latest;
  const why = tree.unsigned === undefined ? '' : `: ${printable(tree.unsigned)}`;
  return [
    `${count(last)} events in ${count(backups)} backups, the last of ${time}`,
    `log ${logId}, epoch ${String(epoch)}, domain ${domain}, up to position ${String(last)}`,
    `${count(tree.size)} leaves with root ${shownRoot(tree.root)}`,
    {
      verified: 'the checkpoint of this tree is signed by a given key',
      unchecked: 'the checkpoint has the root of this tree; its signature was not checked: use --key',
      missing: `no checkpoint of this tree is signed${why}`,
    }[signature],
  ]
    .map((line) => `${line}\n`)
    .join('');
}

/** Runs a command and converts its error. */
async function failing(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw failureOf(error);
  }
}

function failureOf(error: unknown): unknown {
  const failed = resourceFailure(error) ?? error;
  if (failed instanceof StartError) return new CommandFailure(failed.message, failed.exitCode);
  if (failed instanceof BackupRefusedError) return usageError(failed.message);
  if (failed instanceof BackupDamagedError || failed instanceof LogCorruptError) return commandError(failed.message);
  const code = failed instanceof Error && 'code' in failed ? failed.code : '';
  return unreadable.has(code) ? usageError(messageOf(failed)) : failed;
}

const unreadable: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'EACCES']);
