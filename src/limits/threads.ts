/** Limits of the server's worker threads. Each name contains its unit. */

/**
 * The time that a thread has to end after the server has requested its end. After this time, the thread is terminated
 * in the middle of its work.
 */
export const threadStopMsMax = 5_000;
