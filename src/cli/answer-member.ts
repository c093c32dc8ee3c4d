import { isList, isObject } from '../base/guards.ts';
import type { Json } from '../base/json.ts';

export function memberOf(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let found = value;
  for (const step of path) {
    if (!isObject(found) || !Object.hasOwn(found, step)) return undefined;
    found = found[step];
  }
  return found;
}

export function textOf(value: Json | undefined, ...path: readonly string[]): string | undefined {
  const found = memberOf(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

/** Returns the list at a path of a response; an empty list if the path has no list. */
export function listOf(value: Json | undefined, ...path: readonly string[]): readonly Json[] {
  const found = memberOf(value, ...path);
  return isList(found) ? found : [];
}

export function textsOf(value: Json | undefined, ...path: readonly string[]): readonly string[] {
  return listOf(value, ...path).filter((item) => typeof item === 'string');
}
