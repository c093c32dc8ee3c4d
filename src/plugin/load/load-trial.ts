import type { ChildProcess } from 'node:child_process';
import { pathToFileURL } from 'node:url';

import type { Clock, Timer } from '../../base/clock.ts';
import { pluginStartMs, trialHeapMebibytesMax } from '../../limits/plugins.ts';
import { begins, trialUrl, type TrialStart } from './load-trial-process.ts';
import { forkModuleProcess } from './module-process.ts';
import type { Failure } from '../lifecycle/status/plugin-status.ts';

export type TrialRequest = {
  readonly path: string;
  readonly name: string;
  readonly domain: string;
};

/**
 * Runs a module in a separate process before the server runs the module. A thread would not suffice, because V8 may end
 * the whole process when a thread exhausts its heap. Returns a failure if the module ends the process, exhausts its
 * heap, or does not load in time. An exception of the module is ignored, because the exception occurs again when the
 * server loads the module.
 */
export async function findFatal({ path, name, domain }: TrialRequest, clock: Clock): Promise<Failure | undefined> {
  const start: TrialStart = { trialOf: pathToFileURL(path).href, name, domain };
  const child = forkModuleProcess(trialUrl, start);
  return fatalOf(child, clock, { isBegin: (message) => message === begins, isEnd: (message) => message !== begins });
}

/**
 * Recognizes the messages that the process sends before the module runs (`isBegin`) and after the module has run
 * (`isEnd`).
 */
export type TrialMessages = {
  readonly isBegin: (message: unknown) => boolean;
  readonly isEnd: (message: unknown) => boolean;
  /** The time limit in milliseconds of the steps before the module runs; by default the limit of a load. */
  readonly startMs?: number;
};

/**
 * Waits until the process reports that the module has run, and then ends the process. Returns a failure if the process
 * cannot be started, exits earlier, or exceeds a time limit.
 */
export async function fatalOf(
  child: ChildProcess,
  clock: Clock,
  { isBegin, isEnd, startMs = pluginStartMs }: TrialMessages,
): Promise<Failure | undefined> {
  const failure = await new Promise<Failure | undefined>((resolve) => {
    const limit = (ms: number): Timer =>
      clock.after(ms, () => {
        resolve(late);
      });
    let timer = limit(startMs);
    const end = (found: Failure | undefined): void => {
      timer.cancel();
      resolve(found);
    };
    child.on('message', (message) => {
      if (isEnd(message)) end(undefined);
      if (!isBegin(message)) return;
      // The time to start the process is not part of the module's time limit.
      timer.cancel();
      timer = limit(pluginStartMs);
    });
    // A failed kill also emits an error. This error has no effect, because the promise is already resolved.
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

/** The failure if the process aborts, as V8 does when the heap is exhausted. */
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
