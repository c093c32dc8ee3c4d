import { isObject } from '../../base/guards.ts';
import { stackOf } from '../../base/error-message.ts';
import type { ConversionProblem } from '../../resource/type/versions/versioned-type.ts';
import { functionStack } from './function-place.ts';

/**
 * The stacks of the calls that declare types, reconcilers, routes and the definition. The key is the declared object.
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

/**
 * Returns the stack of the declaration to which a problem belongs. The problem's text may begin with a path, as in
 * `controllers[0].routes[1].summary: …`. The innermost part on this path with a recorded stack is used, or the whole
 * definition.
 */
export function declaringStackOf(text: string, exported: unknown): string | undefined {
  const [path = ''] = /^(?:[a-z]+\[[0-9]+\]\.?)+/u.exec(text) ?? [];
  const parts = [exported];
  for (const [, member = '', index = ''] of path.matchAll(/([a-z]+)\[([0-9]+)\]/gu)) {
    const whole = parts.at(-1);
    const list = isObject(whole) ? whole[member] : undefined;
    parts.push(Array.isArray(list) ? list[Number(index)] : undefined);
  }
  return declaringStack(parts.findLast((part) => declaringStack(part) !== undefined));
}

/** Returns the stacks that locate a problem of a conversion: of the thrown error, and of the function. */
export function conversionStacks({ thrown, run }: ConversionProblem): readonly string[] {
  return [stackOf(thrown) ?? '', functionStack(run)];
}

function stackHere(): string {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = framesMax;
  const stack = new Error('declared here').stack ?? '';
  Error.stackTraceLimit = stackTraceLimit;
  return stack;
}
