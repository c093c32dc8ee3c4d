/** Limits of threads that serve requests. Each name contains its unit. */

/** The time that a thread has to end on request. After this time, the thread is terminated in the middle of a step. */
export const threadStopMsMax = 5_000;
