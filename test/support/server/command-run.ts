import { PassThrough } from 'node:stream';

import { systemClock, type Clock } from '../../../src/base/clock.ts';
import { runProgram } from '../../../src/cli/program.ts';
import type { SecretInput, CommandContext } from '../../../src/cli/command-context.ts';

export type CommandRun = { readonly code: number; readonly out: string; readonly err: string };
export type CommandSetting = {
  readonly variables?: Readonly<Record<string, string>>;
  /** Its standard input; nothing by default. */
  readonly input?: string;
  /** A terminal instead, on which this is typed. */
  readonly typed?: string;
  readonly folder?: string;
  /** Standard output is a terminal. */
  readonly isTerminal?: boolean;
  readonly clock?: Clock;
};

/** One command in this process: the whole of the program but for the process itself. */
export async function runCommand(
  args: readonly string[],
  {
    variables = {},
    input = '',
    typed,
    folder = '/nonexistent',
    isTerminal = false,
    clock = systemClock,
  }: CommandSetting = {},
): Promise<CommandRun> {
  const texts = { out: '', err: '' };
  const context: CommandContext = {
    input: typed === undefined ? pipe(input) : terminal(typed).input,
    output: {
      isTTY: isTerminal,
      write: (text) => {
        texts.out += text;
      },
    },
    stderr: {
      write: (text) => {
        texts.err += text;
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
    version: '0.0.0',
  });
  return { code, ...texts };
}

export function pipe(text: string): SecretInput {
  const stream = new PassThrough();
  stream.end(text);
  return stream;
}

/** A terminal on which `typed` is waiting to be read, and the modes it was set to: true is without echo. */
export function terminal(typed: string): { readonly input: SecretInput; readonly modes: readonly boolean[] } {
  const modes: boolean[] = [];
  const input: SecretInput = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (on: boolean) => modes.push(on),
  });
  input.push(typed);
  return { input, modes };
}
