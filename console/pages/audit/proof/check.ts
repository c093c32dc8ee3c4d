/**
 * `unknown`: this browser cannot perform the check, for example because it lacks the algorithm. An unknown check has
 * neither passed nor failed.
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

/** Returns the state of the worst check. */
export function verdictOf(checks: readonly Check[]): CheckState {
  if (checks.some(({ state }) => state === 'failed')) return 'failed';
  return checks.some(({ state }) => state === 'unknown') ? 'unknown' : 'passed';
}
