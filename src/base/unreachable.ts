/**
 * Marks a branch that the type checker proves impossible. A new member of a closed union without a branch does not
 * compile.
 */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}

/**
 * Returns the value, or throws if the value is missing. For look-ups that an invariant guarantees to succeed; `what`
 * names the invariant.
 */
export function must<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) throw new Error(`invariant violated: ${what}`);
  return value;
}
