/** Concurrent steps, of platform and plugins together. */
export const reconcileSlotsMax = 224;
/** Concurrent steps of all plugins together: the rest is for the platform, however long plugins' steps take. */
export const reconcilePluginSlotsMax = 64;
/** Concurrent steps of one plugin. */
export const reconcileSlotsPerPluginMax = 16;
/** How long a controller keeps a slot for consecutive keys before the next waiting one gets it. */
export const reconcileSliceMs = 10;
/**
 * The time of steps in one turn of the event loop, and their number, over all controllers. A request waits no longer
 * than that.
 */
export const reconcileTurnMs = 2;
export const reconcileTurnStepsMax = 512;
/** The duration of a step after which its slot is given to another key. */
export const reconcileStepMs = 60_000;
/** The number of steps of one controller past their time limit at which the controller starts no more. */
export const reconcileStuckMax = 64;
/** The shortest and longest delay before a failed key is retried; the delay doubles with each failure. */
export const reconcileRetryMsMin = 10;
export const reconcileRetryMsMax = 30_000;
/** The time that a stop waits for steps with an aborted signal. */
export const reconcileStopMs = 5_000;
/** The longest delay of a timer: Node's limit is 2^31 ms. */
export const reconcileSleepMsMax = 3_600_000;
/**
 * Consecutive failures of a name after which its reconciler is reported as failing: reached some seconds after the
 * first failure.
 */
export const reconcileFailingAttempts = 8;
/** Failing names that are recorded with their errors. */
export const reconcileFailingNamesMax = 16;
/**
 * The delay after which all names are reconciled because `names` failed for a change; one reconciliation covers all
 * such changes.
 */
export const reconcileAllAfterMs = 5_000;
/** The longest text of an error in a log line, in characters. */
export const reconcileTraceLengthMax = 8_192;
/** The longest text of an error in a condition, in characters. */
export const reconcileErrorLengthMax = 512;
/** The shortest time between two reports of a plugin's health. */
export const reconcileHealthReportMs = 1_000;
/** Log lines per second about the failures of one reconciler. */
export const reconcileLinesPerSecondMax = 10;
/**
 * The shortest time between two log lines about a key that recovered in between, and the number of keys with a recorded
 * time.
 */
export const reconcileFailureReportMs = 60_000;
export const reconcileFailuresKnownMax = 1_024;
/** The shortest and longest delay of a plugin's `again`. */
export const reconcileAgainMsMin = 10;
export const reconcileAgainMsMax = 2_678_400_000;
/** The highest number of names that one change of a watched object may affect. */
export const reconcileWatchedNamesMax = 1_000;
