import { setImmediate as nextTurn } from 'node:timers/promises';

import { isObject } from '../../base/guards.ts';
import { trialProcessMs } from '../../limits/plugins.ts';
import { checkExport } from './check-export.ts';
import { describe, installModuleHooks, runModule } from './load-module.ts';
import { runInProcess } from './module-process.ts';
import type { PluginLogger } from '../api/plugin.ts';

/** The URL of the module, and the context for its default export. */
export type TrialStart = {
  readonly trialOf: string;
  readonly name: string;
  readonly domain: string;
};

export const trialUrl: string = import.meta.url;

/** Drops the log lines of the module. The module writes these lines again when the server loads the module. */
const unheard: PluginLogger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** The message that the process sends immediately before it runs the module. */
export const begins = 'begins';

async function run({ trialOf, name, domain }: TrialStart): Promise<void> {
  // Keeps the process alive while the module waits, so that a promise that never settles exceeds the time limit.
  process.on('message', () => undefined);
  installModuleHooks();
  process.send?.(begins);
  await runModule(trialOf, { name, domain, log: unheard })
    .then((exported) => checkLoaded(exported, { name, domain }))
    .catch(readThrown);
  // Lets the module's queued work run before the trial succeeds, because this work may also end the process.
  await nextTurn();
  process.send?.('loaded');
}

/** Reads the members that the server reads, and calls `stop`, because getters and `stop` may block the process too. */
function checkLoaded(exported: unknown, { name, domain }: Pick<TrialStart, 'name' | 'domain'>): unknown {
  const checked = checkExport(exported, {
    plugin: name,
    bundled: false,
    domain,
    by: { version: '0.0.0', source: 'package' },
  });
  // `stop` is not awaited, because the server waits for `stop` with a time limit.
  return checked.ok ? void Promise.resolve(checked.definition.stop?.()).catch(describe) : undefined;
}

/** Reads the members of a thrown value that the server reads, because getters may block the process too. */
function readThrown(error: unknown): unknown {
  return [describe(error), error instanceof Error && error.stack];
}

function isStart(start: unknown): start is TrialStart {
  return isObject(start) && 'trialOf' in start;
}

await runInProcess({ url: trialUrl, limitMs: trialProcessMs, isStart, run });
