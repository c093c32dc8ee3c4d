/** Whether the value is an object other than null and an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Like `Array.isArray`, which does not narrow readonly arrays. */
export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
