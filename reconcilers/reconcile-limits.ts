/** The maximum number of concurrent steps of the platform and of plugins. */
export const reconcileSlotsMax = 224;
/** The maximum number of concurrent steps of all plugins. The remaining slots are reserved for the platform. */
export const reconcilePluginSlotsMax = 64;
/** The maximum number of concurrent steps of one plugin. */
export const reconcileSlotsPerPluginMax = 16;
/** The maximum time for which a controller uses a slot for consecutive keys. */
export const reconcileSliceMs = 10;
/**
 * The maximum time and number of steps in one turn of the event loop, over all controllers. A request waits no longer
 * than this time, unless a single step takes longer.
 */
export const reconcileTurnMs = 2;
export const reconcileTurnStepsMax = 512;
/** The duration of a step after which its slot is available for another key. */
export const reconcileStepMs = 60_000;
/** A controller starts no further steps while this many of its steps have exceeded their time limit. */
export const reconcileStuckMax = 64;
/** The shortest and the longest delay before a failed key is retried. The delay doubles with each failure. */
export const reconcileRetryMsMin = 10;
export const reconcileRetryMsMax = 30_000;
/** The time for which a stop waits for the end of aborted steps. */
export const reconcileStopMs = 5_000;
/** The maximum delay of one timer. The limit of Node is 2^31 ms. */
export const reconcileSleepMsMax = 3_600_000;
/**
 * The number of consecutive failures of a name after which its reconciler is reported as failing. If its steps fail
 * immediately, a name reaches this number little more than a second after its first failure.
 */
export const reconcileFailingAttempts = 8;
/** The maximum number of failing names that are recorded with their errors. */
export const reconcileFailingNamesMax = 16;
/**
 * If the function `names` of a watch fails for a change, all names are reconciled after this delay. One reconciliation
 * covers all such changes.
 */
export const reconcileAllAfterMs = 5_000;
/** The maximum length of an error in a log line, in characters. */
export const reconcileTraceLengthMax = 8_192;
/** The maximum length of an error in a condition, in characters. */
export const reconcileErrorLengthMax = 512;
/** The minimum time between two reports of a plugin's health. */
export const reconcileHealthReportMs = 1_000;
/** The maximum number of log lines per second about the failures of one reconciler. */
export const reconcileLinesPerSecondMax = 10;
/**
 * The minimum time between two log lines about a key that recovered in between, and the maximum number of keys with a
 * recorded time.
 */
export const reconcileFailureReportMs = 60_000;
export const reconcileFailuresKnownMax = 1_024;
/** The shortest and the longest delay of a plugin's outcome `again`. */
export const reconcileAgainMsMin = 10;
export const reconcileAgainMsMax = 2_678_400_000;
/** The maximum number of names that one change of a watched object may affect. */
export const reconcileWatchedNamesMax = 1_000;
/**
 * The number of consecutive rewrites of one object by a reconciler, each caused by the previous one, after which the
 * name of the steps spins.
 */
export const reconcileRewritesMax = 50;
/**
 * The delay up to which an outcome `again` is immediate, and the number of immediate outcomes in a row after which a
 * name spins.
 */
export const reconcileImmediateMs = 100;
export const reconcileImmediateMax = 100;
/** The time between two steps of a spinning name. */
export const reconcileSpinMs = 60_000;
/** The maximum number of spinning names that a reconciler records. Further names are slowed down as well. */
export const reconcileSpinningNamesMax = 1_024;
/**
 * The maximum number of earlier steps with which a step is compared, and the maximum number of objects that are
 * recorded as written by a step.
 */
export const reconcilePathStepsMax = 8;
export const reconcileWrittenObjectsMax = 16;
/** The maximum number of recorded steps to which changes are attributed. */
export const reconcileTracedStepsMax = 1_024;
/** The maximum number of differing fields in a condition. */
export const reconcileFieldsShownMax = 8;
