/** The maximum number of concurrent steps of the platform and of plugins. */
export const reconcileSlotsMax = 224;
/** The maximum number of concurrent steps of all plugins. The remaining slots are reserved for the platform. */
export const reconcilePluginSlotsMax = 64;
/** The maximum number of concurrent steps of one plugin. */
export const reconcileSlotsPerPluginMax = 16;
/** The maximum time for which a controller uses a slot for consecutive keys. */
export const reconcileSliceMs = 10;
/** The maximum time of steps in one turn of the event loop, over all controllers. */
export const reconcileTurnMs = 2;
/** The maximum number of steps in one turn of the event loop, over all controllers. */
export const reconcileTurnStepsMax = 512;
/** The duration of a step after which its slot is available for another key. */
export const reconcileStepMs = 60_000;
/** A controller starts no further steps while this many of its steps have exceeded their time limit. */
export const reconcileStuckMax = 64;
/**
 * The shortest delay before a failed key is retried. The delay doubles with each failure, up to `reconcileRetryMsMax`.
 */
export const reconcileRetryMsMin = 10;
export const reconcileRetryMsMax = 30_000;
/** The time for which a stop waits for the end of aborted steps. */
export const reconcileStopMs = 5_000;
/** The maximum delay of one timer. The limit of Node is 2^31 ms. */
export const reconcileSleepMsMax = 3_600_000;
/** The number of consecutive failures of a name after which its reconciler is reported as failing. */
export const reconcileFailingAttempts = 8;
/** The maximum number of failing names that are recorded with their errors. */
export const reconcileFailingNamesMax = 16;
/** The delay before all names are reconciled because the function `names` of a watch has failed for a change. */
export const reconcileAllAfterMs = 5_000;
/** The maximum length of an error in a log line, in characters. */
export const reconcileTraceLengthMax = 8_192;
/** The maximum length of an error in a condition, in characters. */
export const reconcileErrorLengthMax = 512;
/** The minimum time between two reports of a plugin's health. */
export const reconcileHealthReportMs = 1_000;
/** The maximum number of log lines per second about the failures of one reconciler. */
export const reconcileLinesPerSecondMax = 10;
/** The minimum time between two log lines about a key that recovered in between. */
export const reconcileFailureReportMs = 60_000;
/** The maximum number of keys with a recorded time of the last line. */
export const reconcileFailuresKnownMax = 1_024;
/** The bounds of the delay of a plugin's outcome `again`. */
export const reconcileAgainMsMin = 10;
export const reconcileAgainMsMax = 2_678_400_000;
/** The maximum number of names that one change of a watched object may affect. */
export const reconcileWatchedNamesMax = 1_000;
/** The number of rewrites of one object, each caused by the previous rewrite, after which a name spins. */
export const reconcileRewritesMax = 50;
/** The delay below which an outcome `again` is immediate. */
export const reconcileImmediateMs = 100;
/** The number of immediate outcomes in a row after which a name spins. */
export const reconcileImmediateMax = 100;
/** The time between two steps of a spinning name. */
export const reconcileSpinMs = 60_000;
/** The maximum number of spinning names that a reconciler records. Further names are slowed down as well. */
export const reconcileSpinningNamesMax = 1_024;
/** The maximum number of earlier steps with which a step is compared. */
export const reconcilePathStepsMax = 8;
/** The maximum number of objects that are recorded as written by a step. */
export const reconcileWrittenObjectsMax = 16;
/** The maximum number of recorded steps to which changes are attributed. */
export const reconcileTracedStepsMax = 1_024;
/** The maximum number of differing fields in a condition. */
export const reconcileFieldsShownMax = 8;
