import { isObject } from '../../base/guards.ts';
import { shortJson } from '../schema/schema-violations.ts';
import { otherWords } from '../schema/suggestions.ts';
import { hookNames, type HookName, type TypeHooks } from './resource-type.ts';

/**
 * Decodes the hooks of a type. Appends every problem to `problems`. Returns undefined if there are no hooks or if there
 * is a problem.
 */
export function decodeHooks(input: unknown, problems: string[]): TypeHooks | undefined {
  if (input === undefined) return undefined;
  if (!isObject(input)) {
    problems.push(`hooks: must be an object of functions, is ${shortJson(input)}`);
    return undefined;
  }
  const found = Object.keys(input)
    .filter((member) => !isHookName(member))
    .map((member) => `${member} is not a hook${otherWords(member, hookNames)}`);
  const hooks: [HookName, TypeHooks[HookName]][] = [];
  for (const name of hookNames) {
    const hook = input[name];
    const problem = problemOf(hook);
    if (problem !== undefined) found.push(`${name} ${problem}`);
    // A hook is called as a method of `input`, so that `input` may be an instance of a class.
    else if (typeof hook === 'function') hooks.push([name, (...args): unknown => Reflect.apply(hook, input, args)]);
  }
  problems.push(...found.map((problem) => `hooks: ${problem}`));
  return found.length > 0 || hooks.length === 0 ? undefined : Object.fromEntries(hooks);
}

/** Returns the source texts of the hooks, which identify the hooks if there is no digest of the plugin's files. */
export function sourceOfHooks(input: unknown): readonly string[] {
  if (!isObject(input)) return [];
  return hookNames.map((name) => {
    const hook = input[name];
    return typeof hook === 'function' ? Function.prototype.toString.call(hook) : '';
  });
}

function isHookName(member: string): member is HookName {
  return hookNames.some((name) => name === member);
}

function problemOf(hook: unknown): string | undefined {
  if (hook === undefined) return undefined;
  if (typeof hook !== 'function') return `must be a function, is ${shortJson(hook)}`;
  return Object.prototype.toString.call(hook) === '[object AsyncFunction]'
    ? 'must not be async: it runs within one decision; return the result, not a promise'
    : undefined;
}
