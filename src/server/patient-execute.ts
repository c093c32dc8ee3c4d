import { delay, type Clock } from '../base/clock.ts';
import type { Execute } from '../write/execute.ts';

type PatientOptions = {
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

/**
 * The write path for this node's own background writes. Retries while the log is unavailable, until the node stops.
 * Returns all other rejections. A write without a reply may exist in the log, so commands must be repeatable.
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
