import type { InitializeHook, ResolveFnOutput, ResolveHook, ResolveHookContext } from 'node:module';

/**
 * Module hooks that let `ledgerplane/plugin` resolve from any folder on disk: a plugin need not have the platform among its
 * dependencies, and sees the very module the platform runs. Where Node runs hooks in a thread of their own it loads this file
 * once more there.
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
  if (specifier === doorName) return atDoor(door);
  return inVersion(await next(specifier, context), context.parentURL);
};

type ResolveSync = (specifier: string, context: ResolveHookContext, next: NextSync) => ResolveFnOutput;
type NextSync = (specifier: string, context: ResolveHookContext) => ResolveFnOutput;

/** The same hook for the thread that imports, which may not wait. There it sees what `require` reaches, too. */
export function resolveBehind(url: string): ResolveSync {
  return (specifier, context, next) => {
    if (specifier === doorName) return atDoor(url);
    const resolved = next(specifier, context);
    return context.conditions.includes('require') ? resolved : inVersion(resolved, context.parentURL);
  };
}

const doorName = 'ledgerplane/plugin';

function atDoor(url: string): ResolveFnOutput {
  return { url, format: 'module', shortCircuit: true };
}

function inVersion(resolved: ResolveFnOutput, parent: string | undefined): ResolveFnOutput {
  const url = parent === undefined ? undefined : versioned(resolved.url, parent);
  return url === undefined ? resolved : { ...resolved, url };
}

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
