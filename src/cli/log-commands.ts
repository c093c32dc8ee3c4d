import type { Command } from 'commander';

import { logCopyInFlightEvents, logCopyInFlightEventsMax } from '../limits/log.ts';
import { readEnvironment } from '../config/environment.ts';
import { usageError } from './failure.ts';
import { gathered } from './audit/gathered.ts';
import type { CommandContext } from './command-context.ts';

/** `log`: a log in the syntax of EVENT_LOG; if undefined, the log of the settings. */
export type LogOptions = { readonly log: string | undefined };
/**
 * `checkpoint`: a file with a checkpoint to compare with the log. `keys`: verifier keys, or files with verifier keys.
 * One of these keys must have signed the checkpoint. Without keys, the signature is not verified.
 */
export type LogInfoOptions = LogOptions & {
  readonly checkpoint: string | undefined;
  readonly keys: readonly string[];
};
export type LogCopyOptions = {
  readonly from: string;
  readonly to: string;
  /** The prefix of the source's stream names in EventStoreDB; if undefined, EVENTSTORE_PREFIX. */
  readonly fromPrefix: string | undefined;
  readonly toPrefix: string | undefined;
  readonly inFlightMax: number;
};

/** The commands that open a log. The caller passes these commands, because src/cli must not import the log. */
export type LogCommands = {
  copy(options: LogCopyOptions, context: CommandContext): Promise<void>;
  startEpoch(options: LogOptions, context: CommandContext): Promise<void>;
  describe(options: LogInfoOptions, context: CommandContext): Promise<void>;
};

type CopyOptions = {
  readonly from?: string;
  readonly to?: string;
  readonly fromPrefix?: string;
  readonly toPrefix?: string;
  readonly inFlight?: string;
};
type LogFlags = { readonly log?: string };
type LogInfoFlags = LogFlags & {
  readonly checkpoint?: string;
  readonly key?: readonly string[];
};

const places =
  '\nWrite a log as embedded:<DATA_DIR>, as embedded: for the DATA_DIR of the settings, or as ' +
  'esdb://…\nSet an address with a password in LEDGERPLANE_COPY_FROM, LEDGERPLANE_COPY_TO or ' +
  'EVENT_LOG, because other users can see the arguments of a command.';

export function addLogCommands(
  program: Command,
  context: CommandContext,
  loadCommands: () => Promise<LogCommands>,
): void {
  const log = program.command('log').description('copy a log, show its contents, begin a new epoch');
  log
    .command('copy')
    .description('copy a log into an empty log, event by event; resumes an interrupted copy')
    .option('--from <log>', 'the log to copy; by default LEDGERPLANE_COPY_FROM')
    .option('--to <log>', 'an empty log, or an interrupted copy of the source; by default LEDGERPLANE_COPY_TO')
    .option('--from-prefix <prefix>', 'stream name prefix of the source in EventStoreDB; by default EVENTSTORE_PREFIX')
    .option('--to-prefix <prefix>', 'stream name prefix of the target; by default EVENTSTORE_PREFIX')
    .option(
      '--in-flight <n>',
      'the number of concurrent appends; 1 keeps the order of events even if an append fails',
      String(logCopyInFlightEvents),
    )
    .addHelpText('after', `${places}\nNo server may run on either log.`)
    .action(async (options: CopyOptions) => {
      await (await loadCommands()).copy(copyOptions(options, context), context);
    });
  log
    .command('info')
    .description('show the identity, epoch and size of a log')
    .option('--log <log>', 'the log; by default EVENT_LOG')
    .option('--checkpoint <file>', 'check that the log begins with the events of a stored checkpoint')
    .option(
      '--key <key>',
      'a public key that must have signed the checkpoint, or a file of keys; may be repeated',
      gathered,
    )
    .addHelpText('after', places)
    .action(async ({ log: place, checkpoint, key = [] }: LogInfoFlags) => {
      if (checkpoint === undefined && key.length > 0) throw usageError('--key can be used only with --checkpoint');
      await (await loadCommands()).describe({ log: place, checkpoint, keys: key }, context);
    });
  log
    .command('new-epoch')
    .description('begin a new epoch after a restore: invalidates earlier positions')
    .option('--log <log>', 'the log; by default EVENT_LOG')
    .addHelpText('after', `${places}\nNo server may run on the log.`)
    .action(async (options: LogFlags) => {
      await (await loadCommands()).startEpoch({ log: options.log }, context);
    });
}

function copyOptions(
  { from, to, fromPrefix, toPrefix, inFlight = '' }: CopyOptions,
  { folder, variables, stderr }: CommandContext,
): LogCopyOptions {
  const environment = readEnvironment(folder, variables);
  for (const [option, value] of [
    ['--from', from],
    ['--to', to],
  ] as const) {
    if (value?.includes('@') === true)
      stderr.write(
        `${option} contains a password that other users of this machine can see: ` +
          `use LEDGERPLANE_COPY_${option.slice(2).toUpperCase()} instead\n`,
      );
  }
  const source = from ?? environment['LEDGERPLANE_COPY_FROM'];
  const target = to ?? environment['LEDGERPLANE_COPY_TO'];
  if (source === undefined) throw usageError('no source log is given: use --from or LEDGERPLANE_COPY_FROM');
  if (target === undefined) throw usageError('no target log is given: use --to or LEDGERPLANE_COPY_TO');
  if (!/^\d{1,5}$/u.test(inFlight) || Number(inFlight) < 1 || Number(inFlight) > logCopyInFlightEventsMax) {
    throw usageError(`--in-flight must be a whole number from 1 to ${String(logCopyInFlightEventsMax)}`);
  }
  return { from: source, to: target, fromPrefix, toPrefix, inFlightMax: Number(inFlight) };
}
