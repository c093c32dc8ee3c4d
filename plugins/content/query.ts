/**
 * Decodes a query parameter that must be an integer of at least 1. Returns `absent` for a missing parameter, and
 * undefined for an invalid or repeated parameter.
 */
export function positiveInteger(value: string | readonly string[] | undefined, absent: number): number | undefined {
  if (value === undefined) return absent;
  return typeof value === 'string' && /^[0-9]{1,9}$/u.test(value) && Number(value) >= 1 ? Number(value) : undefined;
}
