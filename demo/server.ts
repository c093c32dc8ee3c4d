import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Config } from '../src/config/config.ts';

export type Found = { readonly url: string; readonly started: boolean; stop(): Promise<void> };

const probeMs = 2_000;

/**
 * The server at LEDGERPLANE_URL; without that variable, the one on the usual port or else one of our own, on a free
 * port.
 */
export async function findServer(environment: NodeJS.ProcessEnv, config: Config): Promise<Found> {
  const given = environment['LEDGERPLANE_URL'];
  const url = (given ?? 'http://127.0.0.1:8090').replace(/\/+$/u, '');
  if (await answers(url)) return { url, started: false, stop: () => Promise.resolve() };
  if (given !== undefined) throw new Error(`no server answers at LEDGERPLANE_URL ${url}`);
  return startServer(environment, config);
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(probeMs) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/** Ends the server when its standard input does: with the demo, however that ends. */
const endWithInput = "process.stdin.on('end', () => { process.kill(process.pid, 'SIGTERM'); }).resume();";
/** A server with a demo that was just killed still holds DATA_DIR while it drains. */
const startAttemptsMax = 20;
const startPauseMs = 600;

async function startServer(environment: NodeJS.ProcessEnv, config: Config): Promise<Found> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await tryStart(environment, config, attempt === startAttemptsMax);
    if (found !== undefined) return found;
    if (attempt === startAttemptsMax) throw new Error('the server ended before it was ready');
    await sleep(startPauseMs);
  }
}

/** undefined when the server ended before it was ready; why, it says itself at the last attempt. */
async function tryStart(environment: NodeJS.ProcessEnv, config: Config, last: boolean): Promise<Found | undefined> {
  const program = resolve(import.meta.dirname, '../src/main.js');
  const child = spawn(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(endWithInput)}`, program, 'serve'],
    {
      env: { LOG_LEVEL: 'error', ...environment, PORT: '0', DATA_DIR: config.dataDir },
      stdio: 'pipe',
    },
  );
  const exited = once(child, 'exit');
  if (last) child.stderr.pipe(process.stderr);
  const stop = async (): Promise<void> => {
    child.stdin.end();
    await exited;
  };
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^ledgerplane ready on (http:\S+) /u.exec(line)?.[1];
    if (url === undefined) continue;
    child.stderr.pipe(process.stderr);
    return { url, started: true, stop };
  }
  child.stderr.resume();
  await exited;
  return undefined;
}

/** The administrator's: given, or as the server drew it at its first start. */
export function adminPassword(config: Config): string {
  if (config.adminPassword !== undefined) return config.adminPassword;
  const path = join(config.dataDir, 'admin-password');
  if (!existsSync(path)) throw new Error(`the password of admin is neither in ADMIN_PASSWORD nor in ${path}`);
  return readFileSync(path, 'utf8').trim();
}
