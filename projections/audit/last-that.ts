/**
 * The greatest number for which `holds` is true; undefined if `holds(0)` is false. `holds` must be true for all smaller
 * numbers and false for all greater numbers. Calls `holds` a logarithmic number of times.
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
