/**
 * The greatest number for which `holds` is true; undefined if it is false for 0. `holds` must be true for all smaller
 * numbers and false for all greater ones. The number of calls grows with the logarithm of the result.
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
