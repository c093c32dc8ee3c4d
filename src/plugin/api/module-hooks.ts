import type { InitializeHook, ResolveFnOutput, ResolveHook, ResolveHookContext } from 'node:module';

/**
 * Module hooks that resolve `ledgerplane/plugin` from any folder to the module instance of the platform. A plugin thus
 * needs no dependency on the platform. If Node runs hooks in a separate thread, Node loads this file a second time in
 * that thread.
 *
 * The hooks also copy the version in the URL of an importing module to the URLs of imported modules. An edited helper
 * module is thus reloaded with the main module. Modules loaded by `require` and modules in `node_modules` are not
 * reloaded.
 */
export const moduleHooksUrl: string = import.meta.url;

export type ModuleHooksData = { readonly apiUrl: string };

let apiUrl = '';

export const initialize: InitializeHook<ModuleHooksData> = (data) => {
  apiUrl = data.apiUrl;
};

export const resolve: ResolveHook = async (specifier, context, next) => {
  if (specifier === apiName) return resolvedToApi(apiUrl);
  return inVersion(await next(specifier, context), context.parentURL);
};

type ResolveSync = (specifier: string, context: ResolveHookContext, next: NextSync) => ResolveFnOutput;
type NextSync = (specifier: string, context: ResolveHookContext) => ResolveFnOutput;

/**
 * Returns the resolve hook for the importing thread. Hooks in this thread must be synchronous, and also run for
 * `require`.
 */
export function resolveApiAt(url: string): ResolveSync {
  return (specifier, context, next) => {
    if (specifier === apiName) return resolvedToApi(url);
    const resolved = next(specifier, context);
    return context.conditions.includes('require') ? resolved : inVersion(resolved, context.parentURL);
  };
}

const apiName = 'ledgerplane/plugin';

function resolvedToApi(url: string): ResolveFnOutput {
  return { url, format: 'module', shortCircuit: true };
}

function inVersion(resolved: ResolveFnOutput, parent: string | undefined): ResolveFnOutput {
  const url = parent === undefined ? undefined : versioned(resolved.url, parent);
  return url === undefined ? resolved : { ...resolved, url };
}

/**
 * The name of a query parameter in a module's URL. The value contains the version of the plugin's files, and the depth
 * of the plugin's folder in the file system. From the depth, `versioned` computes the path of this folder.
 */
export const versionMember = 'plugin-files';

/**
 * Returns `url` with the version in `parent`, the URL of the importing module. Returns undefined if `parent` has no
 * version. Returns undefined if `url` is outside of the plugin's folder, is in `node_modules`, or has a query.
 */
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
