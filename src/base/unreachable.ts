/** Marks a branch the type checker proves impossible: adding a member to a closed union stops compiling here. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}

/** The value; throws when it is missing. For look-ups that an invariant guarantees; `what` names the invariant. */
export function must<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) throw new Error(`invariant violated: ${what}`);
  return value;
}
