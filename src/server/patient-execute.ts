import { delay, type Clock } from '../base/clock.ts';
import type { Execute } from '../write/execute.ts';

/**
 * The write path for this node's own background writes: retries while the log is unavailable, until the node stops.
 * Other refusals are returned. An unanswered write may have been appended, so commands must be repeatable.
 */
export function patient(
  execute: Execute,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Execute {
  return async (type, command, context) => {
    for (;;) {
      const outcome = await execute(type, command, context);
      if (
        outcome.ok ||
        outcome.rejection.reason !== 'unavailable' ||
        outcome.rejection.lasts === true ||
        signal.aborted
      )
        return outcome;
      await delay(clock, outcome.rejection.retryAfterSeconds * 1_000, signal);
    }
  };
}
