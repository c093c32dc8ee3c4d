/**
 * Bounds of plugins. A name ends in its unit. A bound is tested at n and n + 1, and the error past it names it.
 */

/** A plugin's start, and one call of its route (seed decisions 9.2). */
export const pluginStartMs = 10_000;
export const pluginRouteMs = 30_000;
export const pluginManifestBytesMax = 65_536;
export const pluginObjectFileBytesMax = 4_194_304;
export const pluginObjectsMax = 1_000;
export const routesPerPluginMax = 1_000;
/** An alias repeats what it names, so a few bytes of nested ones could stand for gigabytes. */
export const yamlAliasesMax = 100;
/** A plugin gets a list as a whole: longer ones it asks for in pages. A hundred of the largest objects fit. */
export const clientListBytesMax = 96 * 1_048_576;
/** A plugin with a thousand mistakes need not tell them all at once. */
export const pluginMessageLengthMax = 8_192;
/** How long a server that starts is not ready because plugins are still starting: as long as one may take to load. */
export const pluginsWaitMs = 10_000;

/** Heap of the process in which an uploaded module runs first: modules and what they build at their top level are a few MiB. */
export const trialHeapMebibytesMax = 256;
/** After which that process ends itself, in case the server that waits for `pluginStartMs` has been killed meanwhile. */
export const trialProcessMs = 20_000;
/** Loads of the same files that did not finish, each in another process, after which the server loads them no more. */
export const unfinishedLoadsMax = 2;
