import { isObject } from '../../base/guards.ts';

/** Returns the check whether a value equals one of the given values. */
export function isAmong(values: readonly unknown[]): (value: unknown) => boolean {
  const single = new Set(values.filter((value) => typeof value !== 'object'));
  const composed = new Set(values.filter((value) => typeof value === 'object').map(canonical));
  return (value) =>
    typeof value === 'object' ? composed.size > 0 && composed.has(canonical(value)) : single.has(value);
}

/** Returns whether no two items are equal. */
export function areDistinct(items: readonly unknown[]): boolean {
  const seen = new Set<string>();
  for (const item of items) {
    const text = canonical(item);
    if (seen.has(text)) return false;
    seen.add(text);
  }
  return true;
}

/** Returns the same text for equal values, independent of the order of members. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_member, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)))
      : inner,
  );
}
