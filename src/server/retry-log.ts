import { messageOf } from '../base/error-message.ts';
import { delay, type Clock } from '../base/clock.ts';
import { logRetryMsMax, logRetryMsMin } from '../limits/log.ts';
import type { FoundedLog } from '../log/founded-log.ts';
import type { PluginLogger } from '../plugin/api/plugin.ts';

export type RetryLogOptions = {
  readonly log: FoundedLog;
  readonly clock: Clock;
  readonly logger: Pick<PluginLogger, 'warn'>;
  readonly signal: AbortSignal;
  /** Returns whether a retry cannot succeed after the error. */
  readonly isFinal: (error: unknown) => boolean;
  /** Converts a final error to the error that is thrown. */
  readonly finalError?: (error: unknown) => unknown;
  /** Returns the number of folded events. After progress, the waiting time starts again from the minimum. */
  readonly folded: () => number;
  /** Called with the reason before each wait, and with undefined after a success. */
  readonly onWaiting?: (reason: string | undefined) => void;
  /** The message of the warning, which has the reason in a field. */
  readonly message: string;
};

/** Retries a read of the log until the read succeeds, fails with a final error, or `signal` aborts. */
export async function retryLog(attempt: () => Promise<unknown>, options: RetryLogOptions): Promise<void> {
  const { log, clock, logger, signal, isFinal, finalError = (error): unknown => error, onWaiting, message } = options;
  let logged: string | undefined;
  for (let waitMs = logRetryMsMin, folded = options.folded(); ; waitMs = Math.min(waitMs * 2, logRetryMsMax)) {
    try {
      await attempt();
      onWaiting?.(undefined);
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (isFinal(error)) throw finalError(error);
      const reason = reasonOf(log, error);
      onWaiting?.(reason);
      if (logged !== reason) logger.warn(message, { reason });
      logged = reason;
    }
    if (options.folded() > folded) waitMs = logRetryMsMin;
    folded = options.folded();
    await delay(clock, waitMs, signal);
    signal.throwIfAborted();
  }
}

function reasonOf(log: FoundedLog, error: unknown): string {
  const state = log.state();
  return state.reachable ? messageOf(error) : state.reason;
}
