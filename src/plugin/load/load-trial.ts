import { fork } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';

import type { Clock, Timer } from '../../base/clock.ts';
import { pluginStartMs, trialHeapMebibytesMax } from '../../limits/plugins.ts';
import { begins, trialUrl, type TrialStart } from './load-trial-process.ts';
import type { Failure } from '../lifecycle/status/plugin-status.ts';

export type TrialRequest = { readonly path: string; readonly name: string; readonly domain: string };

/**
 * Runs a module in a separate process before the server runs the module. A thread would not suffice, because V8 may end
 * the whole process when a thread exhausts its heap. Returns only failures that would end or block the server: an
 * infinite loop, an exit, an exhausted heap. Returns undefined for all other failures, such as exceptions, which occur
 * again when the server loads the module.
 */
export async function findFatal({ path, name, domain }: TrialRequest, clock: Clock): Promise<Failure | undefined> {
  const start: TrialStart = { trialOf: pathToFileURL(path).href, name, domain };
  const child = fork(fileURLToPath(trialUrl), [JSON.stringify(start)], {
    execArgv: [`--max-old-space-size=${String(trialHeapMebibytesMax)}`],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // The server's options (a debugger port, for example) must not apply to the trial.
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const failure = await new Promise<Failure | undefined>((resolve) => {
    const limit = (): Timer =>
      clock.after(pluginStartMs, () => {
        resolve(late);
      });
    let timer = limit();
    const end = (found: Failure | undefined): void => {
      timer.cancel();
      resolve(found);
    };
    child.on('message', (message) => {
      if (message !== begins) {
        end(undefined);
        return;
      }
      // The time to start the process is not part of the module's time limit.
      timer.cancel();
      timer = limit();
    });
    // A failed kill also emits an error, which is ignored.
    child.on('error', (error) => {
      end(untried(error));
    });
    child.once('exit', (code, signal) => {
      end(signal === 'SIGABRT' ? aborts : exits(signal ?? `exit code ${String(code)}`));
    });
  });
  child.kill('SIGKILL');
  return failure;
}

const late: Failure = {
  reason: 'StartTimeout',
  message:
    `the plugin's module did not load within ${String(pluginStartMs / 1_000)} s: the module loops, or waits ` +
    'for an event that does not occur',
};

/** V8 aborts a process with an exhausted heap. */
const aborts: Failure = {
  reason: 'ModuleFailed',
  message:
    "the plugin's module aborts the process while the module loads, possibly because it needs more than " +
    `${String(trialHeapMebibytesMax)} MiB of memory`,
};

function exits(how: string): Failure {
  return { reason: 'ModuleFailed', message: `the plugin's module ends the process while the module loads (${how})` };
}

function untried(error: Error): Failure {
  return { reason: 'ModuleFailed', message: `could not start a process to try the plugin's module: ${error.message}` };
}
