/** Returns whether the value is an object, but neither null nor an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns whether the value is an array. `Array.isArray` would not narrow the type to a readonly array. */
export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
