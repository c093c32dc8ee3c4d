#!/usr/bin/env node

// Imports few modules statically, so that a process that can open only few files can still report the problem.
import type { StoppedReplays } from './cli/audit/replay-command.ts';
import type { BackupFileCommands } from './cli/backup/backup-commands.ts';
import type { LogCommands } from './cli/log-commands.ts';
import type { PluginCheck } from './cli/plugin/check-command.ts';
import { StartError } from './base/start-error.ts';
import { refuseFewDescriptors } from './disk/descriptors.ts';
import { resourceFailure } from './disk/resource-failure.ts';

/** The exit code for a mistake of the operator, such as an invalid setting or a folder in use. */
const mistakeExitCode = 2;

/**
 * Runs the command line. Results and the ready line go to standard output; logs and errors go to standard error.
 * Modules are imported when a command needs them.
 */
async function main(args: readonly string[]): Promise<void> {
  if (args.length === 0 || (args.length === 1 && args[0] === 'serve')) {
    await serve();
    return;
  }
  // Ignores write errors, such as EPIPE after the reader has closed a pipe.
  process.stdout.on('error', () => undefined);
  const { runProgram } = await import('./cli/program.ts');
  const { clientClock } = await import('./base/clock.ts');
  const { platformVersion } = await import('./server/platform-version.ts');
  const { stdin, stdout, stderr, env } = process;
  const context = {
    input: stdin,
    output: stdout,
    stderr,
    variables: env,
    folder: process.cwd(),
    clock: clientClock,
    program: [process.execPath, import.meta.filename],
  };
  process.exitCode = await runProgram(args, {
    context,
    serve,
    logCommands,
    stoppedReplays,
    backupFiles,
    pluginCheck,
    version: platformVersion,
  });
}

async function serve(): Promise<void> {
  prepareProcess();
  const server = await import('./server/serve.ts');
  await server.serve();
}

async function logCommands(): Promise<LogCommands> {
  prepareProcess();
  return (await import('./log-tools/log-commands.ts')).logCommands;
}

async function stoppedReplays(): Promise<StoppedReplays> {
  prepareProcess();
  return (await import('./server/replay/stopped-replays.ts')).stoppedReplays;
}

async function backupFiles(): Promise<BackupFileCommands> {
  prepareProcess();
  return (await import('./server/backup/backup-files.ts')).backupFiles;
}

async function pluginCheck(): Promise<PluginCheck> {
  const { checkPlugin } = await import('./plugin/check/check-plugin.ts');
  const { problemText } = await import('./plugin/check/plugin-problem.ts');
  const { clientClock } = await import('./base/clock.ts');
  const { platformVersion: version } = await import('./server/platform-version.ts');
  return async (folder, domain) =>
    (await checkPlugin(folder, { domain, version }, clientClock)).map((problem) => ({
      text: problemText(problem),
      isWarning: problem.isWarning === true,
    }));
}

/**
 * Makes new files private to their user, including files that libraries create. Throws if the process can open too few
 * files. Must be called before any store is opened.
 */
function prepareProcess(): void {
  process.umask(0o077);
  refuseFewDescriptors();
}

function complain(lines: readonly string[], exitCode: number): void {
  process.stderr.write(lines.map((line) => `ledgerplane: ${line}\n`).join(''));
  process.exitCode = exitCode;
}

main(process.argv.slice(2)).catch((thrown: unknown) => {
  const error = resourceFailure(thrown) ?? thrown;
  if (error instanceof StartError) complain(error.message.split('\n'), error.exitCode);
  else if (error instanceof Error && 'syscall' in error && error.syscall === 'listen')
    complain([`cannot serve: ${error.message}`], mistakeExitCode);
  else complain([error instanceof Error && error.stack !== undefined ? error.stack : String(error)], 1);
  process.exit();
});
