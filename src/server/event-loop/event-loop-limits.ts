/**
 * The interval at which the event loop signals progress, and at which the watcher checks this signal. Ten writes to
 * shared memory per second have no measurable cost.
 */
export const eventLoopBeatMs = 100;
/** The duration of a block that affects every client. Such a block is logged with the name of its plugin. */
export const eventLoopHeldMs = 500;
/**
 * A block is logged again after its duration has grown by this factor, or by `eventLoopReportMsMax`. So the latest log
 * lines always show an endless block.
 */
export const eventLoopReportFactor = 4;
export const eventLoopReportMsMax = 60_000;
/** If the watcher itself is later than this, the whole process was suspended, so no plugin caused the delay. */
export const eventLoopWatcherLateMs = 250;
