import { PassThrough } from 'node:stream';

import { systemClock, type Clock } from '../../../src/base/clock.ts';
import { runProgram } from '../../../src/cli/program.ts';
import type { SecretInput, CommandContext } from '../../../src/cli/command-context.ts';

export type CommandRun = { readonly code: number; readonly out: string; readonly err: string };
export type CommandSetting = {
  readonly variables?: Readonly<Record<string, string>>;
  /** The standard input; empty by default. */
  readonly input?: string;
  /** The characters that are typed on a terminal, which replaces the standard input. */
  readonly typed?: string;
  readonly folder?: string;
  /** True if standard output is a terminal. */
  readonly isTerminal?: boolean;
  readonly clock?: Clock;
  /** Called with each text on standard output or standard error. */
  readonly onText?: (text: string) => void;
};

/** Runs one command in this process, with the whole program except its process. */
export async function runCommand(
  args: readonly string[],
  {
    variables = {},
    input = '',
    typed,
    folder = '/nonexistent',
    isTerminal = false,
    clock = systemClock,
    onText,
  }: CommandSetting = {},
): Promise<CommandRun> {
  const texts = { out: '', err: '' };
  const context: CommandContext = {
    input: typed === undefined ? pipe(input) : terminal(typed).input,
    output: {
      isTTY: isTerminal,
      write: (text) => {
        texts.out += text;
        onText?.(text);
      },
    },
    stderr: {
      write: (text) => {
        texts.err += text;
        onText?.(text);
      },
    },
    variables,
    folder,
    clock,
    program: ['/usr/bin/node', '/opt/main.js'],
  };
  const code = await runProgram(args, {
    context,
    serve: () => Promise.reject(new Error('not a server')),
    stoppedReplays: async () => (await import('../../../src/server/replay/stopped-replays.ts')).stoppedReplays,
    logCommands: async () => (await import('../../../src/log-tools/log-commands.ts')).logCommands,
    backupFiles: async () => (await import('../../../src/server/backup/backup-files.ts')).backupFiles,
    pluginCheck: async () => {
      const { checkPlugin } = await import('../../../src/plugin/check/check-plugin.ts');
      const { problemText } = await import('../../../src/plugin/check/plugin-problem.ts');
      return async (path, domain) =>
        (await checkPlugin(path, { domain, version: '0.0.0' }, clock)).map((problem) => ({
          text: problemText(problem),
          isWarning: problem.isWarning === true,
        }));
    },
    version: '0.0.0',
  });
  return { code, ...texts };
}

export function pipe(text: string): SecretInput {
  const stream = new PassThrough();
  stream.end(text);
  return stream;
}

/**
 * Returns a terminal with `typed` as waiting input, and the list of modes that the program sets: true means without
 * echo.
 */
export function terminal(typed: string): { readonly input: SecretInput; readonly modes: readonly boolean[] } {
  const modes: boolean[] = [];
  const input: SecretInput = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (on: boolean) => modes.push(on),
  });
  input.push(typed);
  return { input, modes };
}
