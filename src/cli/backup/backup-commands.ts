import type { Command } from 'commander';

import { gathered } from '../audit/gathered.ts';
import type { CommandContext } from '../command-context.ts';
import type { BackupOptions } from './backup-command.ts';

export type BackupFileOptions = { readonly key?: readonly string[] };

/**
 * The commands that open the files of backups and logs. The caller passes these commands, because src/cli must not
 * import the code of logs.
 */
export type BackupFileCommands = {
  verify(folder: string, options: BackupFileOptions, context: CommandContext): Promise<void>;
  restore(folder: string, options: BackupFileOptions, context: CommandContext): Promise<void>;
};

type BackingUp = {
  readonly context: CommandContext;
  readonly backupFiles: () => Promise<BackupFileCommands>;
  /** Adds the options of commands that send requests to the server. */
  readonly connected: (command: Command) => Command;
};

export function addBackupCommands(program: Command, { context, backupFiles, connected }: BackingUp): void {
  const backup = connected(program.command('backup').description('back up the embedded log of a running server'));
  backup
    .option('--name <name>', 'the folder in the BACKUP_DIR of the server; default: a name with the log and its epoch')
    .addHelpText('after', '\nIf the folder has backups of the log, the new backup contains only the later events.')
    .action(async (options: BackupOptions) => (await import('./backup-command.ts')).backUp(options, context));
  withKeys(backup.command('verify <folder>').description('check every byte of the backups in a folder')).action(
    async (folder: string, options: BackupFileOptions) => (await backupFiles()).verify(folder, options, context),
  );
  withKeys(
    program
      .command('restore <folder>')
      .description('restore a backup into the DATA_DIR of the settings, which must be empty'),
  ).action(async (folder: string, options: BackupFileOptions) =>
    (await backupFiles()).restore(folder, options, context),
  );
}

function withKeys(command: Command): Command {
  return command.option(
    '--key <key>',
    'a verifier key that must have signed the last checkpoint, or a file of such keys; may be repeated',
    gathered,
  );
}
