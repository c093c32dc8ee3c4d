/** The time that a worker thread has to end after a request. Then the thread is terminated. */
export const threadStopMsMax = 5_000;
