import type { Command } from 'commander';

import { gathered } from './gathered.ts';
import type { CommandContext } from '../command-context.ts';
import type { ExportOptions } from './export-command.ts';
import type { VerifyOptions } from './verify/verify-command.ts';
import type { WitnessOptions } from './witness-command.ts';

export function addProofCommands(
  audit: Command,
  context: CommandContext,
  connected: (command: Command) => Command,
): void {
  connected(audit.command('export').description('write the events of the log with a proof, as JSON lines'))
    .option('--from <place>', 'begin with a position of the log, leaf:<index>, or the events from a time (RFC 3339) on')
    .option('--until <place>', 'end with a position of the log, leaf:<index>, or the events up to a time (RFC 3339)')
    .option('--output <file>', 'a new file; default: standard output')
    .option('--resume', 'continue an existing file after its last complete line')
    .option('--gzip', 'compress the file and the response of the server with gzip')
    .action(async (options: ExportOptions) => {
      const { exportLog } = await import('./export-command.ts');
      await exportLog(options, context);
    });
  audit
    .command('verify <file>')
    .description('verify an export, using only the file and the public keys of the server')
    .option('--key <key>', 'a verifier key, or a file with one key on each line; may be repeated', gathered)
    .addHelpText(
      'after',
      '\nThe exit code is 0 if the export is verified, 1 if the file was changed or truncated or is not an\n' +
        'export, and 2 if it cannot be verified, because the file or --key cannot be read or the keys are of\n' +
        'another server.',
    )
    .action(async (file: string, options: VerifyOptions) => {
      const { verifyExport } = await import('./verify/verify-command.ts');
      await verifyExport(file, options, context);
    });
  connected(
    audit
      .command('witness')
      .description('fetch a checkpoint of the server, check that it extends the stored checkpoints, and store it'),
  )
    .option('--dir <folder>', 'the folder of checkpoints and keys; default: ledgerplane-witness')
    .option('--key <key>', 'a trusted verifier key, or a file with one key on each line; may be repeated', gathered)
    .option('--new-tree', 'accept a new tree in addition to the stored one, after a restore of the log')
    .addHelpText('after', '\nIf two checkpoints do not agree, the command prints both and exits with 1.')
    .action(async (options: WitnessOptions) => {
      const { witness } = await import('./witness-command.ts');
      await witness(options, context);
    });
}
