import * as nodeModule from 'node:module';
import { pathToFileURL } from 'node:url';

import type { Clock } from '../../base/clock.ts';
import { pluginStartMs } from '../../limits/plugins.ts';
import { moduleHooksUrl, resolveApiAt, versionMember, type ModuleHooksData } from '../api/module-hooks.ts';
import type { PluginContext } from '../api/plugin.ts';
import { thrownPlace, withoutFolder } from '../errors/thrown-place.ts';

export type LoadedModule =
  /** The module's default export, or its result if the export is a function. The value is not validated yet. */
  | { readonly ok: true; readonly exported: unknown }
  | { readonly ok: false; readonly reason: string; readonly message: string };

export type ModuleRequest = {
  readonly path: string;
  readonly folder: string;
  readonly context: PluginContext;
  /**
   * Identifies the plugin's files and the retry. The version becomes part of the URL, because Node caches modules by
   * URL, including failed modules. If undefined, the URL has no version.
   */
  readonly version: string | undefined;
};

/**
 * Imports a plugin's module. Exceptions, rejections and promises that never settle are returned as results. Code that
 * blocks the thread is not handled. A module runs once for each version, but a default export that is a function is
 * called at every load. Node cannot unload modules, so each loaded version stays in memory.
 */
export async function loadModule(
  { path, folder, context, version }: ModuleRequest,
  clock: Clock,
): Promise<LoadedModule> {
  const url = pathToFileURL(path);
  if (version !== undefined)
    url.searchParams.set(versionMember, `${version}.${String(pathToFileURL(folder).pathname.split('/').length)}`);
  const loading = runModule(url.href, context).then(
    (exported): Outcome => ({ kind: 'loaded', exported }),
    (error: unknown): Outcome => ({ kind: 'failed', error }),
  );
  const outcome = await new Promise<Outcome>((resolve) => {
    const timer = clock.after(pluginStartMs, () => {
      resolve({ kind: 'late' });
    });
    void loading.then((loaded) => {
      timer.cancel();
      resolve(loaded);
    });
  });
  switch (outcome.kind) {
    case 'loaded':
      return { ok: true, exported: outcome.exported };
    case 'late':
      return {
        ok: false,
        reason: 'StartTimeout',
        message: `the plugin's module did not load within ${String(pluginStartMs / 1_000)} s`,
      };
    case 'failed':
      return {
        ok: false,
        reason: 'ModuleFailed',
        message:
          `the plugin's module failed: ${withoutFolder(describe(outcome.error), folder)}` +
          (await thrownPlace(outcome.error, { folder, main: path })),
      };
  }
}

type Outcome =
  | { readonly kind: 'loaded'; readonly exported: unknown }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'late' };

/**
 * Imports the module at a URL. Returns its default export, or the result of a default export that is a function.
 * Rejects with an error of the module or of the function.
 */
export async function runModule(href: string, context: PluginContext): Promise<unknown> {
  const module = (await import(href)) as { readonly default?: unknown };
  const exported = module.default;
  if (typeof exported !== 'function') return exported;
  const define = exported as (context: PluginContext) => unknown;
  return define(context);
}

/** Describes a thrown value. A plugin may throw any value, even an object that throws when a property is read. */
export function describe(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return 'a thrown value that cannot be printed';
  }
}

let areHooksInstalled = false;

/**
 * Makes `ledgerplane/plugin` resolvable outside the platform's package. The hooks are installed only before the first
 * plugin that is not bundled. Before Node 22.15, they slow down imports: they run in a separate thread, and each import
 * needs a round trip.
 */
export function installModuleHooks(): void {
  if (areHooksInstalled) return;
  const apiUrl = new URL('../errors/recording-api.js', import.meta.url).href;
  areHooksInstalled = true;
  if ('registerHooks' in nodeModule && typeof nodeModule.registerHooks === 'function') {
    Reflect.apply(nodeModule.registerHooks, undefined, [{ resolve: resolveApiAt(apiUrl) }]);
    return;
  }
  nodeModule.register<ModuleHooksData>(moduleHooksUrl, { data: { apiUrl } });
}
