import { Command, CommanderError } from 'commander';

import { addAuditCommands } from './audit/audit-commands.ts';
import type { StoppedReplays } from './audit/replay-command.ts';
import { addBackupCommands, type BackupFileCommands } from './backup/backup-commands.ts';
import type { CanIOptions } from './can-i.ts';
import type { ConnectionOptions } from './connection.ts';
import type { CredentialOptions } from './kubeconfig/exec-credential.ts';
import { CommandFailure } from './failure.ts';
import type { HistoryOptions } from './history/history-command.ts';
import type { KubeconfigOptions } from './kubeconfig/kubeconfig.ts';
import { addLogCommands, type LogCommands } from './log-commands.ts';
import { addPluginCommands } from './plugin/add-plugin-commands.ts';
import type { PluginCheck } from './plugin/check-command.ts';
import type { RoleListOptions } from './role-commands.ts';
import { settingsText } from './settings-text.ts';
import { gathered } from './audit/gathered.ts';
import type { CommandContext } from './command-context.ts';
import type { TokenCreateOptions } from './token-commands.ts';
import type { TypesOptions } from './types/write-types.ts';
import type { UserAddOptions, UserPasswdOptions } from './user-commands.ts';

export type ProgramOptions = {
  readonly context: CommandContext;
  /** Starts the server. Resolves when the server has started; the process runs until the server stops. */
  readonly serve: () => Promise<void>;
  /** Loads the log commands on first use. */
  readonly logCommands: () => Promise<LogCommands>;
  /** Loads, on first use, the code that replays and compares the files of a stopped server. */
  readonly stoppedReplays: () => Promise<StoppedReplays>;
  /** Loads, on first use, the commands that read and write files of backups. */
  readonly backupFiles: () => Promise<BackupFileCommands>;
  /** Loads the check of plugins on first use. */
  readonly pluginCheck: () => Promise<PluginCheck>;
  readonly version: string;
};

const mistakeExitCode = 2;

/**
 * Parses the command line and runs the command. Prints a failure of the command, and returns the exit code. Any other
 * error is a bug and is thrown.
 */
export async function runProgram(
  args: readonly string[],
  { context, serve, logCommands, stoppedReplays, backupFiles, pluginCheck, version }: ProgramOptions,
): Promise<number> {
  const { output, stderr } = context;
  const result = { exitCode: 0 };
  const program = new Command('ledgerplane');
  program.exitOverride().configureOutput({
    writeOut: (text) => {
      output.write(text);
    },
    // Errors are printed in the `catch` block below, in this program's own format.
    writeErr: () => undefined,
    outputError: () => undefined,
  });
  const sayVersion = `ledgerplane ${version}`;
  program.usage('<command>').version(sayVersion, '--version', 'print the version').addHelpText('after', settingsText);
  // `serve` is not the default command of commander, because commander would then pass an option before the command to
  // `serve`. `misread` reports such an option.
  program.command('serve').description('run the server (default)').action(serve);
  addCommands(program, context, result);
  addPluginCommands(program, { context, version, pluginCheck, connected });
  addKubeconfig(program, context);
  addHistory(program, context);
  addTypes(program, context);
  addLogCommands(program, context, logCommands);
  addAuditCommands(program, { context, result, stoppedReplays, connected });
  addBackupCommands(program, { context, backupFiles, connected });
  program
    .command('version')
    .description('print the version')
    .action(() => {
      output.write(`${sayVersion}\n`);
    });
  program.helpCommand('help [command]', 'print this text, or the help of a command');
  try {
    await program.parseAsync(args, { from: 'user' });
    return result.exitCode;
  } catch (error) {
    if (!(error instanceof CommandFailure || error instanceof CommanderError)) throw error;
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const message = error instanceof CommandFailure ? error.message : misread(program, args, error);
    stderr.write(
      message
        .split('\n')
        .map((line) => (line === '' ? '' : `ledgerplane: ${line}\n`))
        .join(''),
    );
    return error instanceof CommandFailure ? error.exitCode : mistakeExitCode;
  }
}

function addCommands(program: Command, context: CommandContext, result: { exitCode: number }): void {
  const user = program.command('user').description('add a user, set a password');
  connected(
    user.command('add <name>').description('add a user; prompts for the password, or reads it from standard input'),
  )
    .option('--display-name <text>', 'name for display')
    .option('--email <address>', 'email address of the user')
    .option('--role <name>', 'role to assign; may be repeated', gathered)
    .option('--generate', 'generate a password and print it once')
    .action(async (name: string, options: UserAddOptions) =>
      (await import('./user-commands.ts')).addUser(name, options, context),
    );
  connected(
    user
      .command('passwd <name>')
      .description('set a password; prompts for the password, or reads it from standard input'),
  )
    .option('--generate', 'generate a password and print it once')
    .action(async (name: string, options: UserPasswdOptions) =>
      (await import('./user-commands.ts')).changePassword(name, options, context),
    );

  const token = program.command('token').description('create, revoke and list your own tokens');
  connected(token.command('create').description('create a token and print it once'))
    .option('--description <text>', 'purpose of the token')
    .option('--role <name>', 'limit the token to this role of yours; may be repeated', gathered)
    .option('--expires <when>', 'a duration (12h, 30d) or a time (RFC 3339); default: never')
    .action(async (options: TokenCreateOptions) => (await import('./token-commands.ts')).createToken(options, context));
  connected(token.command('revoke <name>').description('revoke one of your tokens')).action(
    async (name: string, options: ConnectionOptions) =>
      (await import('./token-commands.ts')).revokeToken(name, options, context),
  );
  connected(token.command('list').description('list your tokens')).action(async (options: ConnectionOptions) =>
    (await import('./token-commands.ts')).listTokens(options, context),
  );

  const role = program.command('role').description('list the roles');
  connected(role.command('list').description('list the roles'))
    .option('--templates', 'role templates only')
    .option('--all', 'include hidden roles')
    .action(async (options: RoleListOptions) => (await import('./role-commands.ts')).listRoles(options, context));

  connected(
    program.command('can-i <verb> <resource>').description('check whether a request is allowed, and by which role'),
  )
    .option('--name <name>', 'name of the object')
    .option('--subresource <name>', 'the subresource, as in <resource>/<name>/<subresource>')
    .option('--as <user>', 'check the rights of another user')
    .addHelpText(
      'after',
      '\n<resource> is <plural> or <plural>.<group>, optionally followed by /<name>, or a path that begins with ' +
        '"/".\nThe exit code is 0 for yes and 1 for no.',
    )
    .action(async (verb: string, resource: string, options: CanIOptions) => {
      result.exitCode = (await (await import('./can-i.ts')).canI(verb, resource, options, context)) ? 0 : 1;
    });
}

function addKubeconfig(program: Command, context: CommandContext): void {
  connected(program.command('kubeconfig').description('print a configuration for kubectl, with a new token'))
    .option('--role <name>', 'limit the token to this role of yours; may be repeated', gathered)
    .option('--expires <when>', 'a duration (12h, 30d) or a time (RFC 3339); default: 30d')
    .option('--exec', 'print a command that fetches tokens valid for one hour, instead of a token')
    .action(async (options: KubeconfigOptions) =>
      (await import('./kubeconfig/kubeconfig.ts')).printKubeconfig(options, context),
    );
  connected(
    program
      .command('credential')
      .description('print a token for kubectl, valid for one hour; the output of kubeconfig --exec uses this command'),
  )
    .option('--role <name>', 'limit the token to this role of yours; may be repeated', gathered)
    .action(async (options: CredentialOptions) =>
      (await import('./kubeconfig/exec-credential.ts')).printCredential(options, context),
    );
}

function addHistory(program: Command, context: CommandContext): void {
  connected(program.command('history <type> <name>').description('print the events of an object with their changes'))
    .option('--limit <number>', 'the maximum number of events; by default 20')
    .option('--uid <uid>', 'only events of the object with this uid; default: of all objects that had the name')
    .option('--output <form>', 'text or json; by default text')
    .addHelpText('after', '\n<type> is <plural>, a kind, or either with .<group>. The newest event comes first.')
    .action(async (type: string, name: string, options: HistoryOptions) =>
      (await import('./history/history-command.ts')).printHistory(type, name, options, context),
    );
}

function addTypes(program: Command, context: CommandContext): void {
  connected(
    program.command('types').description("print TypeScript types of the server's types, for the client library"),
  )
    .option('--type <name>', 'only this type, <plural> or <plural>.<group>; may be repeated', gathered)
    .option('--group <name>', 'only the types of this group; may be repeated', gathered)
    .option('--out <file>', 'write the types to this file')
    .action(async (options: TypesOptions) => (await import('./types/write-types.ts')).writeTypes(options, context));
}

function connected(command: Command): Command {
  return command
    .option('--server <url>', 'address of the server; by default LEDGERPLANE_SERVER, or HOST and PORT of the settings')
    .option('--user <name>', 'log in as this user; reads LEDGERPLANE_PASSWORD or prompts')
    .option('--domain <domain>', 'platform domain of the server; by default PLATFORM_DOMAIN of the settings');
}

/**
 * Returns a text that describes the error in the arguments. The text does not contain the value of an unknown option,
 * because the value may be a secret.
 */
function misread(program: Command, args: readonly string[], { code, message }: CommanderError): string {
  const [first = '', second = ''] = args;
  const command = named(program, first);
  if (command === undefined || ['serve', 'version'].includes(first))
    return `unknown command ${JSON.stringify(args.join(' '))}: try ledgerplane help`;
  const path = ['ledgerplane', first, ...(named(command, second) === undefined ? [] : [second])].join(' ');
  if (code === 'commander.help') return `${path} needs a subcommand: try ${path} --help`;
  const words = message
    .replace(/^error: /u, '')
    .replace(/\.$/u, '')
    .replace(/(?<=^unknown option '-[^=']*)=[^]*'/u, "'");
  return `${words}: try ${path} --help`;
}

function named(command: Command, name: string): Command | undefined {
  return command.commands.find((known) => known.name() === name);
}
