/** Concurrent steps, of platform and plugins together. */
export const reconcileSlotsMax = 224;
/** Concurrent steps of all plugins together: the rest is for the platform, however long plugins' steps take. */
export const reconcilePluginSlotsMax = 64;
/** Concurrent steps of one plugin. */
export const reconcileSlotsPerPluginMax = 16;
/** How long a controller keeps a slot for consecutive keys before the next waiting one gets it. */
export const reconcileSliceMs = 10;
/**
 * The time, and the number, of steps in one turn of the event loop, over all controllers: a request waits no longer.
 */
export const reconcileTurnMs = 2;
export const reconcileTurnStepsMax = 512;
/** How long one step may take until its slot is given to another. */
export const reconcileStepMs = 60_000;
/** Steps of one controller that are past their time and have not ended: with this many it starts no more. */
export const reconcileStuckMax = 64;
/** The delay before a failed key is retried doubles from the first to the second. */
export const reconcileRetryMsMin = 10;
export const reconcileRetryMsMax = 30_000;
/** How long a stop waits for steps with an aborted signal. */
export const reconcileStopMs = 5_000;
/** The longest delay of a timer: the platform's limit is 2^31 ms. */
export const reconcileSleepMsMax = 3_600_000;
/** Consecutive failures of a name after which its reconciler is reported as failing: some seconds after the first. */
export const reconcileFailingAttempts = 8;
/** Failing names that are remembered with their errors. */
export const reconcileFailingNamesMax = 16;
/** After `names` failed for a change, all names are reconciled after this delay, once for all such changes. */
export const reconcileAllAfterMs = 5_000;
/** The length of an error in a log line. */
export const reconcileTraceLengthMax = 8_192;
/** The length of an error in a condition. */
export const reconcileErrorLengthMax = 512;
/** How often the reported health of a plugin's reconcilers may change. */
export const reconcileHealthReportMs = 1_000;
/** Log lines per second about the failures of one reconciler. */
export const reconcileLinesPerSecondMax = 10;
/** The least time before a key that had recovered is logged again, and the number of keys with a remembered time. */
export const reconcileFailureReportMs = 60_000;
export const reconcileFailuresKnownMax = 1_024;
/** The shortest and longest delay of a plugin's `again`. */
export const reconcileAgainMsMin = 10;
export const reconcileAgainMsMax = 2_678_400_000;
/** Names that one change of a watched object may affect. */
export const reconcileWatchedNamesMax = 1_000;
