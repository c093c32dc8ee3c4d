const unitsMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const span = /^(?<count>\d{1,6})(?<unit>[mhdw])$/u;
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/iu;

/**
 * Returns the expiry that `text` requests, as a UTC time. `text` is a duration from now (`30d`) or a time (RFC 3339).
 * Returns undefined for any other text, and for a time that is not in the future.
 */
export function expiryAt(text: string, nowMs: number): string | undefined {
  const { count, unit = '' } = span.exec(text)?.groups ?? {};
  const at = count === undefined ? timeOf(text) : nowMs + Number(count) * (unitsMs[unit] ?? 0);
  return at > nowMs ? new Date(at).toISOString() : undefined;
}

/** Returns a time in epoch milliseconds; NaN for an invalid time, such as 31 April. */
function timeOf(text: string): number {
  if (!timestamp.test(text)) return NaN;
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  if (Number.isNaN(day.getTime()) || !day.toISOString().startsWith(text.slice(0, 10))) return NaN;
  return Date.parse(text.toUpperCase());
}
