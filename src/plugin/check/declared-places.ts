/**
 * The stacks of the calls that declare types, reconcilers, routes and the definition. The key is the declared object.
 * Stacks are recorded only during a check, in the check's own process.
 */
const stacks = new WeakMap<object, string>();

const framesMax = 4;

export function recordPlace<T>(declared: T): T {
  if (typeof declared === 'object' && declared !== null) stacks.set(declared, stackHere());
  return declared;
}

/** Returns the stack of the call that declared the object; undefined if no call did. */
export function declaringStack(declared: unknown): string | undefined {
  return typeof declared === 'object' && declared !== null ? stacks.get(declared) : undefined;
}

function stackHere(): string {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = framesMax;
  const stack = new Error('declared here').stack ?? '';
  Error.stackTraceLimit = stackTraceLimit;
  return stack;
}
