import type { Command } from 'commander';

import type { CommandContext } from '../command-context.ts';
import type { VerifyOptions } from './verify-command.ts';

export function addProofCommands(audit: Command, context: CommandContext): void {
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
}

function gathered(value: string, all: readonly string[] = []): readonly string[] {
  return [...all, value];
}
