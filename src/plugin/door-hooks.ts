import type { InitializeHook, ResolveHook } from 'node:module';

/**
 * Module hooks that let `ledgerplane/plugin` resolve from any folder on disk: a plugin need not have the platform among its
 * dependencies, and sees the very module the platform runs. Node loads this file once more in a thread of its own.
 */
export const doorHooksUrl: string = import.meta.url;

export type DoorHooksData = { readonly door: string };

let door = '';

export const initialize: InitializeHook<DoorHooksData> = (data) => {
  door = data.door;
};

export const resolve: ResolveHook = (specifier, context, next) =>
  specifier === 'ledgerplane/plugin' ? { url: door, format: 'module', shortCircuit: true } : next(specifier, context);
