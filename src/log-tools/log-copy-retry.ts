import { delay } from '../base/clock.ts';
import { logRetryMsMax, logRetryMsMin } from '../limits/log.ts';
import type { CopyContext } from './log-copy-context.ts';
import { LogCopyError } from './log-copy-cursor.ts';
import { UnsuitableLogError } from '../log/founded-log.ts';
import { LogCorruptError, LogRefusedError, LogReplacedError } from '../log/log.ts';

const finalErrors = [LogCopyError, LogCorruptError, LogRefusedError, LogReplacedError, UnsuitableLogError];

/** Retries a read until the read succeeds, fails with one of `finalErrors`, or the signal aborts. */
export async function retryRead<T>(
  { clock, signal }: Pick<CopyContext, 'clock' | 'signal'>,
  read: () => Promise<T>,
): Promise<T> {
  for (let waitMs = logRetryMsMin; ; waitMs = Math.min(waitMs * 2, logRetryMsMax)) {
    try {
      return await read();
    } catch (error) {
      if (finalErrors.some((kind) => error instanceof kind)) throw error;
    }
    await delay(clock, waitMs, signal);
    signal.throwIfAborted();
  }
}
