import { isObject } from '../../src/base/guards.ts';
import { ClientError } from '../../src/plugin/api/plugin.ts';
import { nameProblem } from '../../src/resource/type/names.ts';
import { reconcileAgainMsMax, reconcileAgainMsMin, reconcileTraceLengthMax } from '../reconcile-limits.ts';
import { again, failed, settled, type Outcome } from '../outcome.ts';

/** Decodes the result of a plugin's step. Foreign code may return any value. */
export function decodeOutcome(answered: unknown): Outcome {
  if (answered === undefined || answered === null) return settled;
  if (!isObject(answered)) return invalidOutcome();
  const { type, afterMs } = answered;
  if (type === 'settled') return settled;
  if (type !== 'again') return invalidOutcome();
  if (typeof afterMs !== 'number' || !(afterMs >= 0))
    return failed(new TypeError('reconcile returned `again`, but `afterMs` is not a number of milliseconds >= 0'));
  return again(Math.min(Math.max(afterMs, reconcileAgainMsMin), reconcileAgainMsMax));
}

function invalidOutcome(): Outcome {
  return failed(new TypeError("reconcile must return nothing, {type: 'settled'} or {type: 'again', afterMs}"));
}

/**
 * Decodes the result of the function `names` of a watch. Drops names that no object can have.
 *
 * @throws TypeError if the result is not an array of at most `countMax` strings.
 */
export function decodeNames(answered: unknown, countMax: number): readonly string[] {
  if (!Array.isArray(answered) || answered.length > countMax)
    throw new TypeError(`the \`names\` function of a watch must return an array of at most ${String(countMax)} names`);
  const list: ArrayLike<unknown> = answered;
  // Reads by index, since the iterator of the array may be foreign code.
  return Array.from({ length: Math.min(list.length, countMax) }, (_, index) => {
    const name = list[index];
    if (typeof name !== 'string')
      throw new TypeError('the `names` function of a watch must return an array of strings');
    return name;
  }).filter((name) => nameProblem(name) === undefined);
}

type DescribedError = {
  readonly message: string;
  readonly stack: string;
};

/** Converts an error to text for the log. A plugin may throw any value, and reading its properties may throw too. */
export function describeError(error: unknown): DescribedError {
  try {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const stack = error instanceof Error && typeof error.stack === 'string' ? error.stack : message;
    return { message, stack: stack.slice(0, reconcileTraceLengthMax) };
  } catch {
    return { message: 'the plugin threw a value that cannot be printed', stack: '' };
  }
}

/** Whether another writer was faster than the step. */
export function isConflict(error: unknown): boolean {
  try {
    return error instanceof ClientError && error.reason === 'Conflict';
  } catch {
    return false;
  }
}
