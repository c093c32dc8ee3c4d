/** Slots of steps that run at once, of platform and plugins together. */
export const reconcileSlotsMax = 96;
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
