import { isSlower } from './compare/slower.ts';

/** One figure. A figure without a floor is only printed. */
export type Result = {
  readonly measure: string;
  readonly value: number;
  readonly unit: string;
  /** A figure of the same unit, measured in the same run on a program that does only the minimum work. */
  readonly baseline?: number;
  /** value / baseline, as the median over the rounds. */
  readonly ratio?: number;
  /** The lowest accepted ratio, or the highest accepted value, according to `bound`. */
  readonly floor?: number;
  readonly bound?: 'ratio at least' | 'value at most' | 'value at least' | 'rounds at least';
  /** value / baseline of each round, for the bound `rounds at least`. */
  readonly ratios?: readonly number[];
  /** The lowest and the highest value of the rounds. */
  readonly spread?: readonly [number, number];
  readonly note?: string;
};

export function isMet({ value, ratio, ratios = [], floor, bound }: Result): boolean {
  if (floor === undefined) return true;
  if (bound === 'value at most') return value <= floor;
  if (bound === 'value at least') return value >= floor;
  if (bound === 'rounds at least') return ratios.length > 0 && !isSlower(ratios);
  return ratio !== undefined && ratio >= floor;
}

/** Returns whether a figure misses its floor. In a quick run, only a missing value is a miss. */
export function isMissed(result: Result, isQuick: boolean): boolean {
  return !isMet(result) && (!isQuick || Number.isNaN(result.value));
}

/** `isQuick`: whether the floor is not checked. */
export function printJson(result: Result, isQuick: boolean): void {
  const { measure, value, unit, baseline, ratio, ratios, floor, bound, spread, note } = result;
  const ok = isQuick ? undefined : isMet(result);
  console.log(JSON.stringify({ measure, value, unit, baseline, ratio, ratios, floor, bound, ok, spread, note }));
}

export function printText(result: Result, isQuick: boolean): void {
  const { measure, value, unit, baseline, ratio, floor, bound, spread, note } = result;
  const parts = [`${figure(value)} ${unit}`];
  if (spread !== undefined) parts.push(`(${figure(spread[0])} to ${figure(spread[1])})`);
  if (baseline !== undefined) parts.push(`baseline ${figure(baseline)}`);
  if (ratio !== undefined) parts.push(`ratio ${ratio.toFixed(2)}`);
  if (floor !== undefined) parts.push(`${bound ?? 'ratio at least'} ${figure(floor)}`);
  if (note !== undefined) parts.push(`[${note}]`);
  const verdict = floor === undefined || isQuick ? '      ' : isMet(result) ? 'ok    ' : 'SHORT ';
  console.log(`${verdict}${measure.padEnd(34)} ${parts.join('  ')}`);
}

function figure(value: number): string {
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en');
  return Number(value.toPrecision(3)).toString();
}
