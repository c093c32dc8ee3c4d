import { register } from 'node:module';
import { pathToFileURL } from 'node:url';

import type { Clock } from '../base/clock.ts';
import { pluginStartMs } from '../limits.ts';
import { doorHooksUrl, versionMember, type DoorHooksData } from './door-hooks.ts';
import type { PluginContext } from './plugin.ts';

export type LoadedModule =
  /** What the module's default export is, or answers when it is a function; still anything. */
  | { readonly ok: true; readonly exported: unknown }
  | { readonly ok: false; readonly reason: 'ModuleFailed' | 'StartTimeout'; readonly message: string };

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
  const loading = defaultExport(url.href, context).then(
    (exported): LoadedModule => ({ ok: true, exported }),
    (error: unknown): LoadedModule => ({ ok: false, reason: 'ModuleFailed', message: `its module failed: ${describe(error)}${placeIn(folder, error)}` }),
  );
  return new Promise((resolve) => {
    const timer = clock.after(pluginStartMs, () => {
      resolve({ ok: false, reason: 'StartTimeout', message: `its module did not load within ${String(pluginStartMs / 1_000)} s` });
    });
    void loading.then((loaded) => {
      timer.cancel();
      resolve(loaded);
    });
  });
}

async function defaultExport(href: string, context: PluginContext): Promise<unknown> {
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
    return 'it threw what cannot be shown';
  }
}

/** Where in the plugin's folder it was thrown, for who mends it; nothing for what the runtime does not say it of, as of a syntax error. */
function placeIn(folder: string, error: unknown): string {
  try {
    const stack = error instanceof Error && typeof error.stack === 'string' ? decodeURI(error.stack) : '';
    const frame = stack.split('\n').find((line) => line.includes(`${folder}/`));
    const [, path, line] = /^([^?:]+)(?:\?[^:]*)?:(\d+)/u.exec(frame?.slice(frame.indexOf(`${folder}/`) + folder.length + 1) ?? '') ?? [];
    return path === undefined || line === undefined ? '' : ` (at ${path}:${line})`;
  } catch {
    return '';
  }
}

let isDoorOpen = false;

/**
 * Makes `ledgerplane/plugin` resolve outside the platform's own package. Hooks cost a thread and a hop for each import, so
 * they are set up once and only when there is such a plugin.
 */
export function openDoor(): void {
  if (isDoorOpen) return;
  isDoorOpen = true;
  const data: DoorHooksData = { door: new URL('./plugin.js', import.meta.url).href };
  register<DoorHooksData>(doorHooksUrl, { data });
}
