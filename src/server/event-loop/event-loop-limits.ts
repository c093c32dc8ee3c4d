/**
 * The interval at which the event loop signals progress, and at which the watcher checks this signal. Ten writes to
 * shared memory per second have no measurable cost.
 */
export const eventLoopBeatMs = 100;
/** The minimum duration of a block that is logged. A block of this duration delays the requests of every client. */
export const eventLoopHeldMs = 500;
/**
 * While a block lasts, it is logged again when its duration has grown by this factor, or by `eventLoopReportMsMax` if
 * that is sooner. Thus the latest log lines always mention an endless block.
 */
export const eventLoopReportFactor = 4;
export const eventLoopReportMsMax = 60_000;
/**
 * If the watcher's own timer is late by more than this time, the whole process was probably suspended. The delay then
 * does not count as a block.
 */
export const eventLoopWatcherLateMs = 250;
