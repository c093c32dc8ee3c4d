import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

import { openDoor, runModule } from './load-module.ts';
import type { PluginLogger } from './plugin.ts';

/** The module to run, by its address, and what its default export is called with. */
export type TrialStart = { readonly trialOf: string; readonly name: string; readonly domain: string };

export const trialWorkerUrl: string = import.meta.url;

/** What the module prints and logs here it prints again when the process loads it. */
const unheard: PluginLogger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

async function run({ trialOf, name, domain }: TrialStart): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.write = () => true;
  // Keeps the thread alive while the module waits for something: never to settle is then past the time limit.
  parentPort?.on('message', () => undefined);
  openDoor();
  await runModule(trialOf, { name, domain, log: unheard }).catch(() => undefined);
  // What the module left in the queues of this turn runs before the trial ends well.
  await nextTurn();
  parentPort?.postMessage('loaded');
}

if (isTrial(workerData)) await run(workerData);

function isTrial(data: unknown): data is TrialStart {
  return typeof data === 'object' && data !== null && 'trialOf' in data;
}
