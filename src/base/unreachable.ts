/**
 * Marks a branch that the type checker proves impossible. If a closed union gets a new member without a branch, the
 * call does not compile.
 */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}

/**
 * Returns the value, or throws if the value is missing. Use it for look-ups that an invariant guarantees to succeed;
 * `what` names the invariant.
 */
export function must<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) throw new Error(`invariant violated: ${what}`);
  return value;
}
