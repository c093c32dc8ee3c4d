import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline';

import { logSettings, type LogAt } from '../../test/support/memory/event-log.ts';

/** The real server in a child process. */
export type Subject = {
  readonly url: string;
  readonly pid: number;
  /** The milliseconds from the start of the process to the ready line. */
  readonly startMs: number;
  /** The number of events in the log, from the ready line. */
  readonly events: number;
  stop(): Promise<void>;
};

export const adminPassword = 'bench-password-1';
export const authorization = `Basic ${Buffer.from(`admin:${adminPassword}`).toString('base64')}`;
/** The headers of all requests, both to the subject and to the baselines. */
export const headers = { Host: '127.0.0.1', Authorization: authorization };

const ownProgram = resolve(import.meta.dirname, '../../src/main.js');
/** An hour, because the first start on ten million objects folds all their events. */
const startTimeoutMs = 3_600_000;

/**
 * Ends the server when its standard input ends. The input ends whenever the bench ends, even if the bench is killed.
 */
const endWithInput =
  'data:text/javascript,' +
  encodeURIComponent("process.stdin.on('end', () => { process.kill(process.pid, 'SIGTERM'); }).resume();");

export type SubjectOptions = {
  readonly nodeArgs?: readonly string[];
  readonly program?: string;
  /** The value of EVENT_LOG. The default is the embedded log in `dataDir`. */
  readonly eventLog?: LogAt;
  /** Further settings of the server. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The port on which the server listens. The default is a free port. */
  readonly port?: number;
};

export async function startSubject(
  dataDir: string,
  { nodeArgs = [], program = ownProgram, eventLog, settings = {}, port = 0 }: SubjectOptions = {},
): Promise<Subject> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const began = performance.now();
  const child = spawn(process.execPath, [...nodeArgs, '--import', endWithInput, program, 'serve'], {
    // The working directory is not the repository, so that the server does not read its .env file.
    cwd: dirname(dataDir),
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: dataDir,
      ADMIN_PASSWORD: adminPassword,
      LOG_LEVEL: 'warn',
      ...(eventLog === undefined ? { EVENT_LOG: 'embedded:' } : logSettings(eventLog)),
      ...settings,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const { url, events } = await readyLine(child);
  const startMs = performance.now() - began;
  return {
    url,
    events,
    startMs,
    pid: child.pid ?? 0,
    stop: async () => {
      await stop(child);
    },
  };
}

async function readyLine(child: ChildProcess): Promise<{ readonly url: string; readonly events: number }> {
  const timer = setTimeout(() => {
    child.kill('SIGKILL');
  }, startTimeoutMs);
  try {
    if (child.stdout === null) throw new Error('the server has no standard output');
    for await (const line of createInterface({ input: child.stdout })) {
      const found =
        /^ledgerplane ready on (https?:\S+) \((?:embedded log|EventStoreDB), (\d+) events, \d+ types\)$/u.exec(line);
      if (found !== null) return { url: found[1] ?? '', events: Number(found[2]) };
    }
  } finally {
    clearTimeout(timer);
  }
  throw new Error(`the server ended before it was ready, with exit code ${String(child.exitCode)}`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const [code] = (await exited) as [number | null];
  if (code !== 0) throw new Error(`the server stopped with exit code ${String(code)}`);
}
