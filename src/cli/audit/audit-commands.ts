import type { Command } from 'commander';

import type { CommandContext } from '../command-context.ts';
import { addEventCommands } from './event-commands.ts';
import { addProofCommands } from './proof-commands.ts';
import type { ShowOptions } from './show-command.ts';
import type { DiffOptions, ReplayOptions, StoppedReplays } from './replay-command.ts';

type Auditing = {
  readonly context: CommandContext;
  readonly result: { exitCode: number };
  readonly stoppedReplays: () => Promise<StoppedReplays>;
  /** Adds the options of commands that send requests to the server. */
  readonly connected: (command: Command) => Command;
};

export function addAuditCommands(program: Command, { context, result, stoppedReplays, connected }: Auditing): void {
  const audit = program.command('audit').description('list events, replay and export the log, verify exports');
  addProofCommands(audit, context, connected);
  addEventCommands(audit, { context, connected });
  connected(
    audit
      .command('show <type> <name>')
      .description('print an object as it was at a position of the log, or at a time (RFC 3339)'),
  )
    .requiredOption('--at <moment>', 'the position or the time')
    .option('--output <form>', 'yaml, or json', 'yaml')
    .addHelpText('after', '\n<type> is <plural> or <plural>.<group>. The object may have been deleted since.')
    .action(async (type: string, name: string, options: ShowOptions) =>
      (await import('./show-command.ts')).showObject(type, name, options, context),
    );
  connected(
    audit
      .command('replay')
      .description('rebuild the read models from the log, and compare them with the live read models'),
  )
    .option('--until <moment>', 'stop at a position of the log, or at a time (RFC 3339), and compare nothing')
    .option('--print', 'print the objects at that position, as JSON lines')
    .option('--type <type>', 'print only objects of this type: <plural>.<group>')
    .option('--name <name>', 'print only the object with this name; needs --type')
    .option('--stopped', 'open DATA_DIR and EVENT_LOG of the settings directly; the server must be stopped')
    .addHelpText('after', '\nThe exit code is 0 if the read models equal the log, and 1 if anything differs.')
    .action(async (options: ReplayOptions) => {
      const { replay } = await import('./replay-command.ts');
      result.exitCode = (await replay(options, context, stoppedReplays)) ? 0 : 1;
    });
  connected(
    audit
      .command('diff <from> <to>')
      .description('print what changed between two positions of the log or times (RFC 3339), as JSON lines'),
  )
    .option('--type <type>', 'only changes of this type: <plural>.<group>')
    .option('--name <name>', 'only changes of the object with this name; needs --type')
    .option('--stopped', 'open DATA_DIR and EVENT_LOG of the settings directly; the server must be stopped')
    .action(async (from: string, to: string, options: DiffOptions) => {
      const { diff } = await import('./replay-command.ts');
      await diff({ ...options, from, to }, context, stoppedReplays);
    });
}
