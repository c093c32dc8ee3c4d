import type { Json } from '../base/json.ts';

/** What stands at a path of an answer, whatever its shape. */
export function memberOf(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let found = value;
  for (const step of path) {
    if (!isMembers(found) || !Object.hasOwn(found, step)) return undefined;
    found = found[step];
  }
  return found;
}

export function textOf(value: Json | undefined, ...path: readonly string[]): string | undefined {
  const found = memberOf(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

/** Empty where there is no list. */
export function listOf(value: Json | undefined, ...path: readonly string[]): readonly Json[] {
  const found = memberOf(value, ...path);
  return isList(found) ? found : [];
}

export function textsOf(value: Json | undefined, ...path: readonly string[]): readonly string[] {
  return listOf(value, ...path).filter((item) => typeof item === 'string');
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function isMembers(value: Json | undefined): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
