import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

import { repository } from '../../architecture/repository.ts';
import { kubeconfigOf } from './kubeconfig.ts';
import { startTestServer, type TestServer } from './start-server.ts';

const installed = join(repository, 'test', 'tools', 'node_modules', '.kubectl', 'kubectl');

/** The path of the real kubectl: the value of `KUBECTL`, or the installed program. */
export const kubectlProgram = process.env['KUBECTL'] ?? (existsSync(installed) ? installed : undefined);

/** The reason why tests with kubectl cannot run on this machine, or false. */
export const noKubectl =
  kubectlProgram === undefined
    ? 'there is no kubectl for this platform: set KUBECTL to the path of one (1.35)'
    : (false as const);

export type Printed = { readonly code: number; readonly out: string; readonly err: string };

export type Kubectl = {
  readonly server: TestServer;
  /** The folder in which the commands run, empty at first. */
  readonly folder: string;
  /** Runs one command to its end. `input` is its standard input. */
  readonly run: (args: string, input?: string) => Promise<Printed>;
  /** Starts a command that does not end by itself. */
  readonly start: (args: string) => RunningKubectl;
  /** Writes a file to the folder. */
  readonly file: (name: string, content: unknown) => Promise<void>;
};

export type RunningKubectl = {
  /** Resolves with the output so far, once the pattern matches the output. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves when the command has ended by itself. */
  ended(): Promise<Printed>;
  stop(): Promise<Printed>;
};

/** Starts a server over TLS with the plugins of a folder, and kubectl with the file that `kubeconfig` writes. */
export async function givenKubectl(t: Test, plugins?: string): Promise<Kubectl> {
  const environment = { TLS: 'auto', ...(plugins === undefined ? {} : { PLUGINS_DIRS: plugins }) };
  const server = await startTestServer({ environment });
  const folder = await mkdtemp(join(tmpdir(), 'kubectl-'));
  t.teardown(async () => {
    await server.remove();
    await rm(folder, { recursive: true, force: true });
  });
  const home = join(folder, '.home');
  await mkdir(home);
  await writeFile(join(home, 'config'), await kubeconfigOf(server), { mode: 0o600 });
  const spawned = (args: string) => spawnKubectl(folder, home, args);
  return {
    server,
    folder,
    run: async (args, input = '') => {
      const { child, texts } = spawned(args);
      child.stdin.end(input);
      const [code] = (await once(child, 'close')) as [number | null];
      return { code: code ?? -1, ...texts };
    },
    start: (args) => started(spawned(args)),
    file: async (name, content) =>
      writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content)),
  };
}

type Spawned = ReturnType<typeof spawnKubectl>;

function spawnKubectl(folder: string, home: string, args: string) {
  if (kubectlProgram === undefined) throw new Error('there is no kubectl');
  const child = spawn(kubectlProgram, ['--cache-dir', join(home, 'cache'), ...wordsOf(args)], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      KUBECONFIG: join(home, 'config'),
      KUBE_EDITOR: 'sh ./editor.sh',
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => undefined);
  const texts = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    texts.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    texts.err += text;
  });
  return { child, texts };
}

/** Splits arguments as a shell does: at blanks outside single quotes. */
function wordsOf(args: string): readonly string[] {
  return [...args.matchAll(/(?:[^\s']+|'[^']*')+/gu)].map(([word]) => word.replaceAll("'", ''));
}

function started({ child, texts }: Spawned): RunningKubectl {
  const closed = once(child, 'close') as Promise<[number | null]>;
  const ended = async (): Promise<Printed> => {
    const [code] = await closed;
    return { code: code ?? -1, ...texts };
  };
  return {
    until: async (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (pattern.test(texts.out)) resolve(texts.out);
        };
        child.stdout.on('data', look);
        void closed.then(() => {
          reject(new Error(`kubectl ended before it printed ${String(pattern)}: ${texts.out}${texts.err}`));
        });
        look();
      }),
    ended,
    stop: async () => {
      child.kill('SIGTERM');
      return ended();
    },
  };
}
