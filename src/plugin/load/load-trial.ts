import { fork } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';

import type { Clock } from '../../base/clock.ts';
import { pluginStartMs, trialHeapMebibytesMax } from '../../limits/plugins.ts';
import { trialUrl, type TrialStart } from './load-trial-process.ts';
import type { Failure } from '../lifecycle/plugin-status.ts';

export type TrialRequest = { readonly path: string; readonly name: string; readonly domain: string };

/**
 * Runs a module in a process of its own before the server runs it. A thread would not do: when its heap is exhausted, V8
 * may end the whole process. Finds only what the server could not survive: a loop without end, an exit, a heap without
 * bound. Everything else, a module that throws among it, is found by loading it, and answers `undefined` here.
 */
export async function findFatal({ path, name, domain }: TrialRequest, clock: Clock): Promise<Failure | undefined> {
  const start: TrialStart = { trialOf: pathToFileURL(path).href, name, domain };
  const child = fork(fileURLToPath(trialUrl), [JSON.stringify(start)], {
    execArgv: [`--max-old-space-size=${String(trialHeapMebibytesMax)}`], stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // Options for the server, a port for its debugger among them, are not meant for the trial.
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const failure = await new Promise<Failure | undefined>((resolve) => {
    const timer = clock.after(pluginStartMs, () => { resolve(late); });
    const end = (found: Failure | undefined): void => {
      timer.cancel();
      resolve(found);
    };
    child.once('message', () => { end(undefined); });
    // A kill that fails is an error, too.
    child.on('error', (error) => { end(untried(error)); });
    child.once('exit', (code, signal) => { end(signal === 'SIGABRT' ? aborts : exits(signal ?? `exit code ${String(code)}`)); });
  });
  child.kill('SIGKILL');
  return failure;
}

const late: Failure = {
  reason: 'StartTimeout',
  message: `its module did not load within ${String(pluginStartMs / 1_000)} s: it loops or waits for an event that does not occur`,
};

/** V8 aborts a process whose heap is exhausted. */
const aborts: Failure = {
  reason: 'ModuleFailed',
  message: `its module aborts the process while it loads: it may need more than ${String(trialHeapMebibytesMax)} MiB of memory`,
};

function exits(how: string): Failure {
  return { reason: 'ModuleFailed', message: `its module ends the process while it loads (${how})` };
}

function untried(error: Error): Failure {
  return { reason: 'ModuleFailed', message: `no process could be started to try its module: ${error.message}` };
}
