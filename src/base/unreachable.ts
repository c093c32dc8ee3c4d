/**
 * Marks a branch that the type checker proves impossible: after a new member of a closed union, the code does not
 * compile here.
 */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}

/** The value; throws if it is missing. Use it for look-ups that an invariant guarantees; `what` names the invariant. */
export function must<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) throw new Error(`invariant violated: ${what}`);
  return value;
}
