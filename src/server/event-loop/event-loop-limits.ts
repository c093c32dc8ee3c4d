/** The interval at which the event loop signals progress, and at which the watcher checks the signal. */
export const eventLoopBeatMs = 100;
/** The minimum duration of a block that is logged. */
export const eventLoopHeldMs = 500;
/**
 * A lasting block is logged again when its duration has grown by this factor or by `eventLoopReportMsMax`, whichever is
 * sooner.
 */
export const eventLoopReportFactor = 4;
export const eventLoopReportMsMax = 60_000;
/**
 * If the watcher's own timer is late by more than this time, the whole process was probably suspended. The delay is
 * then not a block.
 */
export const eventLoopWatcherLateMs = 250;
