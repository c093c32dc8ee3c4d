/** Slots of steps that run at once, of platform and plugins together. */
export const reconcileSlotsMax = 224;
/** … of all plugins together: what is left is the platform's, however long theirs take. */
export const reconcilePluginSlotsMax = 64;
/** … of one plugin. */
export const reconcileSlotsPerPluginMax = 16;
/** How long a slot is kept for one key after the other before somebody else who waits gets it. */
export const reconcileSliceMs = 10;
/** How long, and how many, steps go on in one turn of the event loop, over all controllers: a request waits no longer. */
export const reconcileTurnMs = 2;
export const reconcileTurnStepsMax = 512;
/** How long one step may take until its slot is given to others. */
export const reconcileStepMs = 60_000;
/** Steps of one controller past their time that have not ended: with that many it begins no more. */
export const reconcileStuckMax = 64;
/** The wait before a failed key's next try doubles from the first to the second. */
export const reconcileRetryMsMin = 10;
export const reconcileRetryMsMax = 30_000;
/** How long a stop waits for steps whose signal has been aborted. */
export const reconcileStopMs = 5_000;
/** A timer sleeps no longer than this: the platform's longest is 2^31 ms. */
export const reconcileSleepMsMax = 3_600_000;
/** Failures of a name in a row from which on its reconciler is shown as failing: some seconds after the first. */
export const reconcileFailingAttempts = 8;
/** Names that are remembered with their error for that. */
export const reconcileFailingNamesMax = 16;
/** How long after a change that concerns nobody can tell whom all names are looked at, once for all such changes until then. */
export const reconcileAllAfterMs = 5_000;
/** How much of an error is told in a line of the log. */
export const reconcileTraceLengthMax = 8_192;
/** How much of an error is shown in a condition. */
export const reconcileErrorLengthMax = 512;
/** How often what is shown of a plugin's reconcilers may change. */
export const reconcileHealthToldMs = 1_000;
/** Lines a second in which one reconciler's failures are told. */
export const reconcileLinesPerSecondMax = 10;
/** How soon a failure of a key that was well in between is told again, and of how many keys that is known. */
export const reconcileFailureToldMs = 60_000;
export const reconcileFailuresKnownMax = 1_024;
/** A plugin's `again` waits at least this, and its timers no longer than a month. */
export const reconcileAgainMsMin = 10;
export const reconcileAgainMsMax = 2_678_400_000;
/** Names that one change of a watched object may concern. */
export const reconcileWatchedNamesMax = 1_000;
