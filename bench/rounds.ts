export type Comparison = {
  readonly value: number;
  readonly baseline: number;
  readonly ratio: number;
  readonly spread: readonly [number, number];
};

/**
 * Runs the baseline and the subject in alternating rounds, so that other load on the machine affects both. Returns the
 * medians. The first round is a warm-up and is not included.
 */
export async function compare(
  rounds: number,
  baseline: () => Promise<number>,
  subject: () => Promise<number>,
): Promise<Comparison> {
  const baselines: number[] = [];
  const subjects: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const before = await baseline();
    const value = await subject();
    if (round === 0) continue;
    baselines.push(before);
    subjects.push(value);
  }
  return {
    value: median(subjects),
    baseline: median(baselines),
    ratio: median(subjects.map((value, round) => value / (baselines[round] ?? Number.NaN))),
    spread: [Math.min(...subjects), Math.max(...subjects)],
  };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length >> 1;
  const high = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? high : ((sorted[middle - 1] ?? Number.NaN) + high) / 2;
}
