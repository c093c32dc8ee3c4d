import type { Command } from 'commander';

import { gathered } from './gathered.ts';
import type { CommandContext } from '../command-context.ts';
import type { ExportOptions } from './export-command.ts';
import type { VerifyOptions } from './verify-command.ts';
import type { WitnessOptions } from './witness-command.ts';

export function addProofCommands(
  audit: Command,
  context: CommandContext,
  connected: (command: Command) => Command,
): void {
  connected(audit.command('export').description('write the events of the log with the proof of them, as JSON lines'))
    .option('--from <place>', 'the first event: a position of the log, leaf:<index>, or after a time (RFC 3339)')
    .option('--until <place>', 'the last event: a position of the log, leaf:<index>, or where the log stood at a time')
    .option('--output <file>', 'a new file; default: standard output')
    .option('--resume', 'continue the file after its last whole line')
    .option('--gzip', 'gzip the file, and what the server sends')
    .action(async (options: ExportOptions) => {
      const { exportLog } = await import('./export-command.ts');
      await exportLog(options, context);
    });
  audit
    .command('verify <file>')
    .description('verify an export, with nothing but the file and the public keys of its server')
    .option('--key <key>', 'a verifier key, or a file with one on each line; may be repeated', gathered)
    .addHelpText(
      'after',
      '\nIt exits with 0 if the export is verified, with 1 if it was changed or cut short, and with 2 if it\n' +
        'cannot be verified: it is no export, or of another server than the keys.',
    )
    .action(async (file: string, options: VerifyOptions) => {
      const { verifyExport } = await import('./verify-command.ts');
      await verifyExport(file, options, context);
    });
  connected(
    audit.command('witness').description('keep a checkpoint of the server, and check that it extends the last one'),
  )
    .option('--dir <folder>', 'where checkpoints and keys are kept; default: ledgerplane-witness')
    .option('--key <key>', 'a trusted verifier key, or a file with one on each line; may be repeated', gathered)
    .option('--new-tree', 'the log was restored: accept its new tree beside the old one')
    .addHelpText('after', '\nIt prints two checkpoints that do not agree, and exits with 1.')
    .action(async (options: WitnessOptions) => {
      const { witness } = await import('./witness-command.ts');
      await witness(options, context);
    });
}
