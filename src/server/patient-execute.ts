import { delay, type Clock } from '../base/clock.ts';
import type { Execute } from '../write/execute.ts';

/**
 * The write door for what this node has to write and nobody waits for: a write that the log did not answer is asked for again
 * until it does, or the node stops. What this node may not write at all is refused. What was not answered may have landed, so it is for commands that may be repeated.
 */
export function patient(execute: Execute, { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal }): Execute {
  return async (type, command, context) => {
    for (;;) {
      const outcome = await execute(type, command, context);
      if (outcome.ok || outcome.rejection.reason !== 'unavailable' || outcome.rejection.lasts === true || signal.aborted) return outcome;
      await delay(clock, outcome.rejection.retryAfterSeconds * 1_000, signal);
    }
  };
}
