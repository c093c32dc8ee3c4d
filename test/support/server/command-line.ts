import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

/** The program as a child process. */
export type CommandLine = {
  readonly child: ChildProcess;
  /** The complete output so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves with the ready line. Rejects if the process ends without one. */
  ready(): Promise<string>;
  /** Resolves once the standard output matches. Rejects if the process ends before. */
  printed(pattern: RegExp): Promise<void>;
  /** Resolves with the exit code, or with the signal that ended the process. */
  exited(): Promise<number | NodeJS.Signals | null>;
};

export type CommandLineOptions = {
  /** The working directory, from which `.env` and relative paths are read. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeArgs?: readonly string[];
  /** The path of the program's main module; that of this repository by default. */
  readonly program?: string;
  /** The standard input; empty by default. */
  readonly input?: string;
  /** The maximum size of each file of the process, in blocks of 512 bytes. A larger write fails, as on a full disk. */
  readonly fileBlocksMax?: number;
  /** The maximum number of open files of the process. */
  readonly openFilesMax?: number;
};

const ownProgram = resolve(import.meta.dirname, '../../../src/main.js');

export function runCommandLine(
  args: readonly string[],
  { cwd, env = {}, nodeArgs = [], program = ownProgram, input = '', fileBlocksMax, openFilesMax }: CommandLineOptions,
): CommandLine {
  // The server receives only the given variables, not those of the test run. The shell removes NODE_OPTIONS, with which
  // the test runner would instrument the server, for example with signal listeners.
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
  // A command that does not read its input may end before the input is written.
  child.stdin.on('error', () => undefined).end(input);
  const texts = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.stderr += text;
  });
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  /** Resolves with the first result of `look`, which is called after each output. */
  const until = async <T>(look: () => T | undefined): Promise<T> => {
    const found = new Promise<T>((resolveFound) => {
      const check = (): void => {
        const result = look();
        if (result === undefined) return;
        child.stdout.off('data', check);
        resolveFound(result);
      };
      child.stdout.on('data', check);
      check();
    });
    const ended = closed.then(([code, signal]) => {
      throw new Error(`ended with ${String(code ?? signal)} before it was ready: ${texts.stderr}`);
    });
    return Promise.race([found, ended]);
  };
  return {
    child,
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    exited: async () => {
      const [code, signal] = await closed;
      return code ?? signal;
    },
    ready: async () => until(() => /^(.*)\n/u.exec(texts.stdout)?.[1]),
    printed: async (pattern) => {
      await until(() => (pattern.test(texts.stdout) ? true : undefined));
    },
  };
}
