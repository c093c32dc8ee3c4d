const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** A duration as text. `until` is the next longer duration with another text, in milliseconds. */
export type HumanDuration = {
  readonly text: string;
  readonly until: number;
};

/**
 * Returns Kubernetes' short form of a duration in milliseconds (`HumanDuration` of k8s.io/apimachinery), such as
 * `3m12s` or `2d5h`. Clocks may differ, so a negative duration of less than 2 s is `0s`.
 */
export function humanDuration(durationMs: number): HumanDuration {
  if (durationMs <= -2 * second) return { text: '<invalid>', until: 1 - 2 * second };
  if (durationMs < 0) return { text: '0s', until: 0 };
  const [, unit, text] = forms.find(([below]) => durationMs < below) ?? longest;
  return { text: text(durationMs), until: (Math.floor(durationMs / unit) + 1) * unit };
}

type Form = readonly [below: number, unit: number, text: (durationMs: number) => string];

const forms: readonly Form[] = [
  [2 * minute, second, one(second, 's')],
  [10 * minute, second, two([minute, 'm'], [second, 's'])],
  [3 * hour, minute, one(minute, 'm')],
  [8 * hour, minute, two([hour, 'h'], [minute, 'm'])],
  [2 * day, hour, one(hour, 'h')],
  [8 * day, hour, two([day, 'd'], [hour, 'h'])],
  [2 * year, day, one(day, 'd')],
  [8 * year, day, two([year, 'y'], [day, 'd'])],
];
const longest: Form = [Infinity, year, one(year, 'y')];

function one(unit: number, letter: string): (durationMs: number) => string {
  return (durationMs) => `${String(Math.floor(durationMs / unit))}${letter}`;
}

function two(
  [larger, largerLetter]: readonly [number, string],
  [smaller, smallerLetter]: readonly [number, string],
): (durationMs: number) => string {
  return (durationMs) => {
    const rest = Math.floor((durationMs % larger) / smaller);
    const first = `${String(Math.floor(durationMs / larger))}${largerLetter}`;
    return rest === 0 ? first : `${first}${String(rest)}${smallerLetter}`;
  };
}

const timestampForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/u;

/**
 * Returns the age of an RFC 3339 timestamp at `now`. `until` is the time at which the text changes. Times are in epoch
 * milliseconds.
 */
export function ageOf(timestamp: string, now: number): HumanDuration {
  if (timestamp === '') return { text: '<unknown>', until: Infinity };
  const at = timestampForm.test(timestamp) ? Date.parse(timestamp) : NaN;
  if (Number.isNaN(at)) return { text: '<invalid>', until: Infinity };
  const { text, until } = humanDuration(now - at);
  return { text, until: at + until };
}
