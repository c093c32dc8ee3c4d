import { median } from '../rounds.ts';

/** The ratio of two rates below which a round counts as slower. */
export const roundRatioMin = 0.95;
export const comparedRounds = 9;
const slowRounds = 7;

/**
 * Returns whether a build is slower, by the ratios of its rates to those of another build. One number would often be
 * wrong on a machine with other work: both the median and seven of nine rounds must be slower.
 */
export function isSlower(ratios: readonly number[]): boolean {
  const needed = Math.ceil((ratios.length * slowRounds) / comparedRounds);
  return !(median(ratios) >= roundRatioMin) && slowerRounds(ratios) >= needed;
}

/** The number of rounds that are slower. A ratio that is not a number counts as one. */
export function slowerRounds(ratios: readonly number[]): number {
  return ratios.filter((ratio) => !(ratio >= roundRatioMin)).length;
}
