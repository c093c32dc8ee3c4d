import { delay, type Clock } from '../base/clock.ts';
import type { Execute } from '../write/execute.ts';

type PatientOptions = {
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

/**
 * Wraps the write path for this node's own background writes. Retries a command that is rejected as `unavailable`,
 * until the node stops. Does not retry if only an operator can end this state (`lasts`). A rejected write may be in the
 * log, so commands must be idempotent.
 */
export function patient(execute: Execute, { clock, signal }: PatientOptions): Execute {
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
