import * as nodeModule from 'node:module';
import { pathToFileURL } from 'node:url';

import type { Clock } from '../../base/clock.ts';
import { pluginStartMs } from '../../limits/plugins.ts';
import { doorHooksUrl, resolveBehind, versionMember, type DoorHooksData } from '../api/door-hooks.ts';
import type { PluginContext } from '../api/plugin.ts';
import { thrownPlace, withoutFolder } from '../lifecycle/thrown-place.ts';

export type LoadedModule =
  /** What the module's default export is, or answers when it is a function; still anything. */
  | { readonly ok: true; readonly exported: unknown }
  | { readonly ok: false; readonly reason: string; readonly message: string };

export type ModuleRequest = {
  readonly path: string;
  /** The plugin's folder. */
  readonly folder: string;
  readonly context: PluginContext;
  /** Of the plugin's files, and of each try after one that failed: the runtime remembers a module by its address, failed ones too. */
  readonly version: string | undefined;
};

/**
 * Imports a plugin's module. Whatever it does but block the thread (throw, reject, never settle) is an answer here.
 * The same version is the same module: its top level runs once, and a default export that is a function at every start. Node
 * cannot unload modules: each version that was loaded stays in memory until the process ends.
 */
export async function loadModule({ path, folder, context, version }: ModuleRequest, clock: Clock): Promise<LoadedModule> {
  const url = pathToFileURL(path);
  if (version !== undefined) url.searchParams.set(versionMember, `${version}.${String(pathToFileURL(folder).pathname.split('/').length)}`);
  const loading = runModule(url.href, context).then((exported): Outcome => ({ kind: 'loaded', exported }), (error: unknown): Outcome => ({ kind: 'failed', error }));
  const outcome = await new Promise<Outcome>((resolve) => {
    const timer = clock.after(pluginStartMs, () => { resolve({ kind: 'late' }); });
    void loading.then((loaded) => {
      timer.cancel();
      resolve(loaded);
    });
  });
  switch (outcome.kind) {
    case 'loaded':
      return { ok: true, exported: outcome.exported };
    case 'late':
      return { ok: false, reason: 'StartTimeout', message: `its module did not load within ${String(pluginStartMs / 1_000)} s` };
    case 'failed':
      return { ok: false, reason: 'ModuleFailed', message: `its module failed: ${withoutFolder(describe(outcome.error), folder)}${await thrownPlace(outcome.error, { folder, main: path })}` };
  }
}

type Outcome = { readonly kind: 'loaded'; readonly exported: unknown } | { readonly kind: 'failed'; readonly error: unknown } | { readonly kind: 'late' };

/** Imports the module at that address; its default export, or what that answers when it is a function. Throws what they throw. */
export async function runModule(href: string, context: PluginContext): Promise<unknown> {
  const module = await import(href) as { readonly default?: unknown };
  const exported = module.default;
  if (typeof exported !== 'function') return exported;
  const define = exported as (context: PluginContext) => unknown;
  return define(context);
}

/** What was thrown may be anything, even something that throws when it is looked at. */
export function describe(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return 'it threw a value that cannot be printed';
  }
}

let isDoorOpen = false;

/**
 * Makes `ledgerplane/plugin` resolve outside the platform's own package. Node 22.15 and later run the hooks in this thread.
 * Earlier ones start a thread for them, hold this one until it runs, and take a hop for each import: they are set up once,
 * and only when there is such a plugin.
 */
export function openDoor(): void {
  if (isDoorOpen) return;
  isDoorOpen = true;
  const door = new URL('../api/plugin.js', import.meta.url).href;
  if ('registerHooks' in nodeModule && typeof nodeModule.registerHooks === 'function') {
    Reflect.apply(nodeModule.registerHooks, undefined, [{ resolve: resolveBehind(door) }]);
    return;
  }
  nodeModule.register<DoorHooksData>(doorHooksUrl, { data: { door } });
}
