import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

/** The program as a child process, as its users run it. */
export type CommandLine = {
  readonly child: ChildProcess;
  /** The whole of the stream so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves with the ready line; rejects when the process ends without one. */
  ready(): Promise<string>;
  /** The exit code, or the signal that ended it. */
  exited(): Promise<number | NodeJS.Signals | null>;
};

export type CommandLineOptions = {
  /** The working directory, from which `.env` and relative paths are read. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeArgs?: readonly string[];
  /** Its standard input; nothing by default. */
  readonly input?: string;
  /** What no file of it may outgrow, in blocks of 512 bytes: a write past it fails, as on a full disk. */
  readonly fileBlocksMax?: number;
  /** How many files it may have open. */
  readonly openFilesMax?: number;
};

const program = resolve(import.meta.dirname, '../../../src/main.js');

export function runCommandLine(
  args: readonly string[],
  { cwd, env = {}, nodeArgs = [], input = '', fileBlocksMax, openFilesMax }: CommandLineOptions,
): CommandLine {
  // Only the given variables: those of the test run are not the server's. The shell drops the options with which the
  // test runner instruments every child it sees, signal listeners among them.
  const limit = fileBlocksMax === undefined ? '' : `ulimit -f ${String(fileBlocksMax)}; `;
  const files = openFilesMax === undefined ? '' : `ulimit -n ${String(openFilesMax)}; `;
  const child = spawn(
    '/bin/sh',
    ['-c', `unset NODE_OPTIONS; ${limit}${files}exec "$0" "$@"`, process.execPath, ...nodeArgs, program, ...args],
    {
      cwd,
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    },
  );
  // A command that does not read it may end before it is written.
  child.stdin.on('error', () => undefined).end(input);
  const texts = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.stderr += text;
  });
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  return {
    child,
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    exited: async () => {
      const [code, signal] = await closed;
      return code ?? signal;
    },
    ready: async () => {
      const first = new Promise<string>((resolveLine) => {
        const look = (): void => {
          if (texts.stdout.includes('\n')) resolveLine(texts.stdout.slice(0, texts.stdout.indexOf('\n')));
        };
        child.stdout.on('data', look);
        look();
      });
      const ended = closed.then(([code, signal]) => {
        throw new Error(`ended with ${String(code ?? signal)} before it was ready: ${texts.stderr}`);
      });
      return Promise.race([first, ended]);
    },
  };
}
