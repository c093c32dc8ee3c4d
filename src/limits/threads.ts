/** Limits of threads that serve requests. Each name ends in its unit. */

/** How long a thread may take to end on request, before it ends without finishing its step. */
export const threadStopMsMax = 5_000;
