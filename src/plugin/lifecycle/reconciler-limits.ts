/** More than a plugin has types. */
export const reconcilersPerPluginMax = 64;
/** Other types whose changes one reconciler hears of. */
export const reconcilerWatchesMax = 16;
/** Names one reconciler looks at at once. */
export const reconcilerConcurrencyMax = 16;
/** It is a label of metrics, and stands in conditions. */
export const reconcilerNameLengthMax = 253;
