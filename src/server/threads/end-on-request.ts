import { parentPort } from 'node:worker_threads';

/** The message that requests the immediate end of a thread, even if the thread waits for something. */
export const endNow = 'end now';

/**
 * Lets this thread end on request, between two of its turns. `Worker.terminate` could end the thread within an LMDB
 * transaction. The cleanup would then wait forever for the end of this transaction, and the main thread would wait for
 * the cleanup.
 */
export function endOnRequest(): void {
  parentPort?.on('message', (message) => {
    // In a worker, this ends the thread, not the process.
    if (message === endNow) process.exit();
  });
}
