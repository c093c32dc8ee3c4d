import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

import { systemClock } from '../../base/clock.ts';
import { trialProcessMs } from '../../limits/plugins.ts';
import { checkExport } from './check-export.ts';
import { describe, installModuleHooks, runModule } from './load-module.ts';
import type { PluginLogger } from '../api/plugin.ts';

/** The URL of the module, and the arguments of its default export. */
export type TrialStart = { readonly trialOf: string; readonly name: string; readonly domain: string };

export const trialUrl: string = import.meta.url;

/** Drops the module's log lines: they are written when the server loads the module. */
const unheard: PluginLogger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** The message sent right before the module runs. */
export const begins = 'begins';

const watchdog = 'trial watchdog';

async function run({ trialOf, name, domain }: TrialStart): Promise<void> {
  // Keeps the process alive while the module waits, so that a promise that never settles exceeds the time limit.
  process.on('message', () => undefined);
  process.on('disconnect', () => {
    process.exit();
  });
  await once(new Worker(new URL(trialUrl), { workerData: watchdog }), 'online');
  installModuleHooks();
  process.send?.(begins);
  await runModule(trialOf, { name, domain, log: unheard })
    .then((exported) => checkLoaded(exported, { name, domain }))
    .catch(readThrown);
  // Lets work that the module queued run before the trial succeeds.
  await nextTurn();
  process.send?.('loaded');
}

/** Reads the same members that the server reads: a getter, or `stop`, may block the process as a top level may. */
function checkLoaded(exported: unknown, { name, domain }: Pick<TrialStart, 'name' | 'domain'>): unknown {
  const checked = checkExport(exported, {
    plugin: name,
    bundled: false,
    domain,
    by: { version: '0.0.0', source: 'package' },
  });
  // Not awaited, since the server's own wait for `stop` has a time limit.
  return checked.ok ? void Promise.resolve(checked.definition.stop?.()).catch(describe) : undefined;
}

/** The server reports the error and its place. */
function readThrown(error: unknown): unknown {
  return [describe(error), error instanceof Error && error.stack];
}

/** Runs in a thread, since the module may block the main one: the trial must not outlive a killed server. */
function watch(): void {
  parentPort?.on('message', () => undefined);
  systemClock.after(trialProcessMs, () => {
    process.kill(process.pid, 'SIGKILL');
  });
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
