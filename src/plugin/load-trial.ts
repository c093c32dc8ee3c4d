import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';

import type { Clock } from '../base/clock.ts';
import { pluginStartMs, trialHeapMebibytesMax } from '../limits/plugins.ts';
import { trialWorkerUrl, type TrialStart } from './load-trial-worker.ts';
import type { Failure } from './plugin-status.ts';

export type TrialRequest = { readonly path: string; readonly name: string; readonly domain: string };

/**
 * Runs a module in a thread of its own, which can be ended while it loops, before the process runs it. Finds only what the
 * process could not survive: a loop without end, an exit, a heap without bound. Everything else, a module that throws among
 * it, is found by loading it, and answers `undefined` here.
 */
export async function findFatal({ path, name, domain }: TrialRequest, clock: Clock): Promise<Failure | undefined> {
  const start: TrialStart = { trialOf: pathToFileURL(path).href, name, domain };
  const worker = new Worker(new URL(trialWorkerUrl), {
    workerData: start, execArgv: [], stdout: true, stderr: true, name: 'plugin trial',
    resourceLimits: { maxOldGenerationSizeMb: trialHeapMebibytesMax },
  });
  worker.stdout.resume();
  worker.stderr.resume();
  const failure = await new Promise<Failure | undefined>((resolve) => {
    const timer = clock.after(pluginStartMs, () => { resolve(late); });
    const end = (found: Failure | undefined): void => {
      timer.cancel();
      resolve(found);
    };
    worker.once('message', () => { end(undefined); });
    worker.once('error', (error) => { end(isOutOfMemory(error) ? tooLarge : undefined); });
    worker.once('exit', (code) => { end(exits(code)); });
  });
  // Not awaited: native code that blocks the thread delays its end, and nothing of it is needed any more.
  void worker.terminate();
  return failure;
}

const late: Failure = {
  reason: 'StartTimeout',
  message: `its module did not load within ${String(pluginStartMs / 1_000)} s: it loops or waits for something that does not come`,
};

const tooLarge: Failure = {
  reason: 'ModuleFailed',
  message: `its module needs more than ${String(trialHeapMebibytesMax)} MiB of memory to load`,
};

function exits(code: number): Failure {
  return { reason: 'ModuleFailed', message: `its module ends the process while it loads (exit code ${String(code)})` };
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
