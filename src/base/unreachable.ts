/** Marks a branch the type checker proves impossible: adding a member to a closed union stops compiling here. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}

/** The value, or a bug report: for look-ups an invariant guarantees. `what` names the invariant that broke. */
export function must<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) throw new Error(`invariant broken: ${what}`);
  return value;
}
