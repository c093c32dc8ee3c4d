/**
 * A plot of the last hour. The name of each series is the name of a column of the samples, and a key in the messages.
 */
export type Figure = {
  readonly name: string;
  readonly unit: Unit;
  readonly series: readonly string[];
};

export type Unit = 'rate' | 'count' | 'milliseconds' | 'bytes';

export const figures: readonly Figure[] = [
  { name: 'events', unit: 'rate', series: ['eventsPerSecond'] },
  { name: 'requests', unit: 'rate', series: ['requests2xxPerSecond', 'requests4xxPerSecond', 'requests5xxPerSecond'] },
  { name: 'latency', unit: 'milliseconds', series: ['latencyP50Ms', 'latencyP99Ms'] },
  { name: 'lag', unit: 'count', series: ['lag'] },
  { name: 'queue', unit: 'count', series: ['reconcilerQueue'] },
  { name: 'watchers', unit: 'count', series: ['watchers'] },
  { name: 'loop', unit: 'milliseconds', series: ['eventLoopDelayP99Ms'] },
  { name: 'memory', unit: 'bytes', series: ['rssBytes', 'heapUsedBytes'] },
];

const megabyte = 1_000_000;

/** Returns a value with its unit, short enough for the label of an axis. */
export function textOf(value: number, unit: Unit, locale: string): string {
  const format = (amount: number, options: Intl.NumberFormatOptions = {}): string =>
    amount.toLocaleString(locale, { maximumSignificantDigits: 3, notation: 'compact', ...options });
  switch (unit) {
    case 'rate':
      return `${format(value)}/s`;
    case 'count':
      return format(value);
    case 'milliseconds':
      return format(value, { style: 'unit', unit: 'millisecond' });
    case 'bytes':
      return format(value / megabyte, { style: 'unit', unit: 'megabyte' });
  }
}

export type Extent = { readonly now: number; readonly lowest: number; readonly highest: number };

/** Returns the last, the lowest and the highest value of a column; undefined without a known value. */
export function extentOf(values: readonly (number | null)[]): Extent | undefined {
  const known = values.filter((value) => value !== null);
  const now = known.at(-1);
  return now === undefined ? undefined : { now, lowest: Math.min(...known), highest: Math.max(...known) };
}
