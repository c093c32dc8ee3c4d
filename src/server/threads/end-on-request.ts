import { parentPort } from 'node:worker_threads';

/** The message that asks a thread to end at once, whatever it waits for. */
export const endNow = 'end now';

/**
 * Lets this thread end on request between two of its turns. `Worker.terminate` would also end it within a transaction
 * of LMDB: the cleanup then waits for the end of that transaction for ever, and the main thread waits for the cleanup.
 */
export function endOnRequest(): void {
  parentPort?.on('message', (message) => {
    // In a worker, this ends the thread, not the process.
    if (message === endNow) process.exit();
  });
}
