import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { must } from '../../../src/base/unreachable.ts';

const program = fileURLToPath(new URL('main.js', import.meta.url));

export type EventStoreProcess = {
  readonly url: string;
  readonly port: number;
  readonly pid: () => number;
  /** Sends SIGKILL and waits for the end of the process. */
  readonly kill: () => Promise<void>;
  /** Starts a new process on the same port and file. */
  readonly restart: () => Promise<void>;
  /** Send SIGSTOP and SIGCONT. */
  readonly pause: () => void;
  readonly resume: () => void;
  readonly stop: () => Promise<void>;
};

/** Starts the server as a child process. With `file`, acknowledged events survive a kill. */
export async function spawnEventStore({
  port = 0,
  file,
}: { readonly port?: number; readonly file?: string } = {}): Promise<EventStoreProcess> {
  let { child, url } = await spawned(port, file);
  const chosen = Number(new URL(url.replace('esdb:', 'http:')).port);
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGCONT');
    child.kill(signal);
    await exited;
  };
  return {
    url,
    port: chosen,
    pid: () => must(child.pid, 'it was spawned'),
    kill: () => end('SIGKILL'),
    restart: async () => {
      await end('SIGKILL');
      ({ child, url } = await spawned(chosen, file));
    },
    pause: () => {
      child.kill('SIGSTOP');
    },
    resume: () => {
      child.kill('SIGCONT');
    },
    stop: () => end('SIGTERM'),
  };
}

async function spawned(
  port: number,
  file: string | undefined,
): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const args = [program, '--port', port.toString(), ...(file === undefined ? [] : ['--file', file])];
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'] },
  });
  const out = must(child.stdout, 'stdout is a pipe');
  let output = '';
  for await (const chunk of out.setEncoding('utf8')) {
    output += String(chunk);
    const ready = /^ready (\S+)$/mu.exec(output);
    if (ready !== null) return { child, url: ready[1] ?? '' };
  }
  throw new Error(`the server ended before it was ready: ${output}`);
}
