import type { InitializeHook, ResolveHook } from 'node:module';

/**
 * Module hooks that let `ledgerplane/plugin` resolve from any folder on disk: a plugin need not have the platform among its
 * dependencies, and sees the very module the platform runs. Node loads this file once more in a thread of its own.
 *
 * They also pass the version in a module's address on to what it imports from its own plugin's folder, so that a helper that
 * was edited is loaded anew with the main module. What is reached by `require`, and what lies in `node_modules`, is not.
 */
export const doorHooksUrl: string = import.meta.url;

export type DoorHooksData = { readonly door: string };

let door = '';

export const initialize: InitializeHook<DoorHooksData> = (data) => {
  door = data.door;
};

export const resolve: ResolveHook = async (specifier, context, next) => {
  if (specifier === 'ledgerplane/plugin') return { url: door, format: 'module', shortCircuit: true };
  const resolved = await next(specifier, context);
  const url = context.parentURL === undefined ? undefined : versioned(resolved.url, context.parentURL);
  return url === undefined ? resolved : { ...resolved, url };
};

/** The member of a module's address that says which version of the plugin's files it is of, and how deep its folder lies. */
export const versionMember = 'plugin-files';

/** `url` with the version of the module that imports it; undefined where it is of no plugin, or not of the same folder. */
export function versioned(url: string, parent: string): string | undefined {
  const version = URL.canParse(parent) ? new URL(parent).searchParams.get(versionMember) : null;
  if (version === null || !url.startsWith('file:')) return undefined;
  const depth = Number(version.slice(version.lastIndexOf('.') + 1));
  const root = `${new URL(parent).pathname.split('/').slice(0, depth).join('/')}/`;
  const imported = new URL(url);
  const inner = imported.pathname.startsWith(root) ? imported.pathname.slice(root.length) : undefined;
  if (inner === undefined || inner.split('/').includes('node_modules') || imported.search !== '') return undefined;
  imported.searchParams.set(versionMember, version);
  return imported.href;
}
