import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

import { systemClock } from '../../base/clock.ts';
import { trialProcessMs } from '../../limits/plugins.ts';
import { openDoor, runModule } from './load-module.ts';
import type { PluginLogger } from '../api/plugin.ts';

/** The module to run, by its address, and what its default export is called with. */
export type TrialStart = { readonly trialOf: string; readonly name: string; readonly domain: string };

export const trialUrl: string = import.meta.url;

/** What the module prints and logs here it prints again when the server loads it. */
const unheard: PluginLogger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

const watchdog = 'trial watchdog';

async function run({ trialOf, name, domain }: TrialStart): Promise<void> {
  // Keeps the process alive while the module waits for something: never to settle is then past the time limit.
  process.on('message', () => undefined);
  process.on('disconnect', () => { process.exit(); });
  await once(new Worker(new URL(trialUrl), { workerData: watchdog }), 'online');
  openDoor();
  await runModule(trialOf, { name, domain, log: unheard }).catch(() => undefined);
  // What the module left in the queues of this turn runs before the trial ends well.
  await nextTurn();
  process.send?.('loaded');
}

/** In a thread of its own, as the module may hold the other one: a trial does not outlive a server that was killed. */
function watch(): void {
  parentPort?.on('message', () => undefined);
  systemClock.after(trialProcessMs, () => { process.kill(process.pid, 'SIGKILL'); });
}

if (!isMainThread) {
  if (workerData === watchdog) watch();
} else if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const start: unknown = JSON.parse(process.argv[2] ?? 'null');
  if (isStart(start)) await run(start);
}

function isStart(start: unknown): start is TrialStart {
  return typeof start === 'object' && start !== null && 'trialOf' in start;
}
