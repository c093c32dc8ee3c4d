/** The time within which a worker thread must end after a request to stop. Then the thread is terminated. */
export const threadStopMsMax = 5_000;
