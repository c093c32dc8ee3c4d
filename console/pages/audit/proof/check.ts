/**
 * `unknown`: the check is not possible here, for example because the browser lacks the algorithm. It is no success and
 * no failure.
 */
export type CheckState = 'passed' | 'failed' | 'unknown';

/** One step of a verification. */
export type Check = {
  /** The key of the text in the messages, below `audit.proof.checks`. */
  readonly key: string;
  readonly state: CheckState;
  /** The values in the text. */
  readonly values?: Readonly<Record<string, string | number>>;
};

/** A verification is as good as its worst check. */
export function verdictOf(checks: readonly Check[]): CheckState {
  if (checks.some(({ state }) => state === 'failed')) return 'failed';
  return checks.some(({ state }) => state === 'unknown') ? 'unknown' : 'passed';
}
