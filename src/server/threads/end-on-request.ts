import { parentPort } from 'node:worker_threads';

/** The message that ends a waiting thread immediately. */
export const endNow = 'end now';

/**
 * Lets this thread end on request, between two turns. `Worker.terminate` could end the thread within an LMDB
 * transaction, and the main thread would then wait forever.
 */
export function endOnRequest(): void {
  parentPort?.on('message', (message) => {
    // In a worker, `process.exit` ends the thread and not the process.
    if (message === endNow) process.exit();
  });
}
