import { ClientError } from 'ledgerplane/client';

import { after } from '../../../server/browser-clock.ts';

const attemptsMax = 20;

/**
 * Calls again, after the time that the server states, while the server refuses because of the caller's rate limits.
 * Rejects after any other failure.
 */
export async function retried<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ClientError && error.status === 429) || attempt === attemptsMax) throw error;
      await delay((error.retryAfterSeconds ?? 1) * 1_000, signal);
    }
  }
}

/** Resolves after `ms`, or at once when the signal aborts. */
async function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = after(ms, end);
    signal.addEventListener('abort', end);
  });
}
