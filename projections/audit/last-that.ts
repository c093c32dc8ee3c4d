/**
 * The last number from 0 that satisfies a condition which holds up to it and for no greater one; undefined for none. It
 * asks a number of times that grows with the logarithm of the answer.
 */
export function lastThat(holds: (number: number) => boolean): number | undefined {
  if (!holds(0)) return undefined;
  let [low, high] = [0, 1];
  for (; holds(high); high *= 2) low = high;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}
