import { median } from '../rounds.ts';

/** The ratio of two rates below which a round counts as slower. */
export const roundRatioMin = 0.95;
export const comparedRounds = 9;
const slowRounds = 7;

/**
 * Returns whether a build is slower than another build. Each ratio is the rate of the build in one round, divided by
 * the rate of the other build. Other work on the machine can slow single rounds, so both the median and seven of nine
 * rounds must be slower.
 */
export function isSlower(ratios: readonly number[]): boolean {
  const needed = Math.ceil((ratios.length * slowRounds) / comparedRounds);
  return !(median(ratios) >= roundRatioMin) && slowerRounds(ratios) >= needed;
}

/** The number of slower rounds. A round with the ratio NaN counts as slower. */
export function slowerRounds(ratios: readonly number[]): number {
  return ratios.filter((ratio) => !(ratio >= roundRatioMin)).length;
}
