/** The maximum number of reconcilers of one plugin, equal to the maximum number of types. */
export const reconcilersPerPluginMax = 64;
/** The maximum number of other types that one reconciler watches. */
export const reconcilerWatchesMax = 16;
/** The maximum number of names that one reconciler processes concurrently. */
export const reconcilerConcurrencyMax = 16;
/** The maximum length of a reconciler's name, which is a metric label and part of condition messages. */
export const reconcilerNameLengthMax = 253;
