/**
 * The stacks of the calls that declare types, reconcilers, routes and the definition. The key is the declared object.
 * Only the separate process of a check records stacks.
 */
const stacks = new WeakMap<object, string>();

const framesMax = 4;

export function recordPlace<T>(declared: T): T {
  if (typeof declared === 'object' && declared !== null) stacks.set(declared, stackHere());
  return declared;
}

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
