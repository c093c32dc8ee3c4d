/**
 * The interval at which the event loop signals progress, and at which that is checked: ten writes to memory a second
 * cost nothing.
 */
export const eventLoopBeatMs = 100;
/** A longer block affects every client: it is logged, with the name of the plugin that caused it. */
export const eventLoopHeldMs = 500;
/**
 * The factor by which a block must grow until it is logged again, and the longest interval: an endless block stays in
 * the latest lines.
 */
export const eventLoopReportFactor = 4;
export const eventLoopReportMsMax = 60_000;
/** If the watcher itself is later than this, the whole process was suspended, and no plugin caused the delay. */
export const eventLoopWatcherLateMs = 250;
