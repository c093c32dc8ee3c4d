/** More than the types of a plugin. */
export const reconcilersPerPluginMax = 64;
/** The maximum number of other types that one reconciler watches. */
export const reconcilerWatchesMax = 16;
/** The maximum number of names that one reconciler processes concurrently. */
export const reconcilerConcurrencyMax = 16;
/** The name is a metric label, and part of conditions. */
export const reconcilerNameLengthMax = 253;
