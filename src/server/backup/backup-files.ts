import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';

import type { VerifierKey } from '../../audit/proof/signed-note.ts';
import { StartError } from '../../base/start-error.ts';
import { verifierKeys } from '../../cli/audit/verifier-keys.ts';
import type { BackupFileCommands, BackupFileOptions } from '../../cli/backup/backup-commands.ts';
import type { CommandContext } from '../../cli/command-context.ts';
import { commandError, CommandFailure, usageError } from '../../cli/failure.ts';
import { counted, printable } from '../../cli/text-table.ts';
import { decodeConfig, type Config } from '../../config/config.ts';
import { readEnvironment } from '../../config/environment.ts';
import { takeDataDir } from '../../disk/data-dir.ts';
import { missingFolders, removeEmptyFolders } from '../../disk/new-folders.ts';
import { resourceFailure } from '../../disk/resource-failure.ts';
import { CopyProgress } from '../../log-tools/log-copy-progress.ts';
import { LogCorruptError } from '../../log/log.ts';
import { BackupDamagedError, BackupForeignError, BackupRefusedError } from './backup-errors.ts';
import { readChain } from './backup-folder.ts';
import { shownRoot } from './backup-tree.ts';
import { shownPosition } from './manifest.ts';
import { refuseUsedDataDir, restoreBackup } from './restore-backup.ts';
import { verifiedRecords, type VerifiedBackup } from './verify-backup.ts';

/** The commands that read the files of backups, without a running server. */
export const backupFiles: BackupFileCommands = {
  verify: async (folder, options, context) => {
    await failing(folder, async () => {
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
    await failing(folder, async () => {
      const { path, keys, progress } = prepared(folder, options, context);
      const { dataDir, eventLog, platformDomain } = configOf(context);
      if (eventLog.kind !== 'embedded')
        throw usageError(
          'EVENT_LOG is an EventStoreDB: restore the backup with EVENT_LOG=embedded:, ' +
            'then copy the embedded log with ledgerplane log copy',
        );
      refuseUsedDataDir(dataDir);
      refuseOtherDomain(path, platformDomain);
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

/** @throws StartError if no server with this PLATFORM_DOMAIN would open the restored log. */
function refuseOtherDomain(folder: string, domain: string): void {
  const owner = readChain(folder).manifests.at(-1)?.domain ?? domain;
  if (owner === domain) return;
  throw new StartError(
    `the backup belongs to PLATFORM_DOMAIN ${owner}, but the settings have ${domain}: ` +
      'set PLATFORM_DOMAIN to the domain of the backup',
    { exitCode: 2 },
  );
}

function eventsIn(folder: string): number {
  return readChain(folder).manifests.at(-1)?.last ?? 0;
}

function summaryOf({ latest, backups, signature }: VerifiedBackup): string {
  const { logId, epoch, domain, last, time, tree } = latest;
  const why = tree.unsigned === undefined ? '' : `: ${printable(tree.unsigned)}`;
  return [
    `${counted(last, 'event')} in ${counted(backups, 'backup')}, the last of ${time}`,
    `log ${logId}, epoch ${String(epoch)}, domain ${domain}, up to position ${shownPosition(last, epoch)}`,
    `${counted(tree.size, 'leaf')} with root ${shownRoot(tree.root)}`,
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
async function failing(folder: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw failureOf(error, folder);
  }
}

function failureOf(error: unknown, folder: string): unknown {
  const failed = resourceFailure(error) ?? error;
  if (failed instanceof StartError) return new CommandFailure(failed.message, failed.exitCode);
  if (failed instanceof BackupRefusedError || failed instanceof BackupForeignError) return usageError(failed.message);
  if (failed instanceof BackupDamagedError || failed instanceof LogCorruptError) return commandError(failed.message);
  const [code, path] = failed instanceof Error ? [memberOf(failed, 'code'), memberOf(failed, 'path')] : [];
  if (code === undefined || !unreadable.has(code)) return failed;
  return usageError(`${printable(path ?? folder)} cannot be read (${code})`);
}

function memberOf(error: Error, name: 'code' | 'path'): string | undefined {
  const value: unknown = Object.entries(error).find(([member]) => member === name)?.[1];
  return typeof value === 'string' ? value : undefined;
}

const unreadable: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EACCES']);
