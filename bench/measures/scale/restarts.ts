import type { Bench } from '../../bench.ts';
import type { Result } from '../../result.ts';
import { median } from '../../rounds.ts';

/**
 * Starts a server on `dataDir` and on an empty log in turns. Returns the difference of the start times. Both logs must
 * have been started before.
 */
export async function measureRestart(
  bench: Bench,
  { dataDir, count, maxSeconds }: { readonly dataDir: string; readonly count: number; readonly maxSeconds: number },
): Promise<Result> {
  const emptyDir = bench.newDataDir();
  const startMs = async (dir: string): Promise<number> => bench.withSubject(dir, async ({ startMs: took }) => took);
  await startMs(emptyDir);
  const [empty, full, beyond]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < Math.min(bench.rounds, 3); round += 1) {
    const without = await startMs(emptyDir);
    const withObjects = await startMs(dataDir);
    empty.push(without);
    full.push(withObjects);
    beyond.push((withObjects - without) / 1_000);
  }
  return {
    measure: `${count.toLocaleString('en')} objects: restart, beyond an empty one`,
    value: median(beyond),
    unit: 's',
    spread: [Math.min(...beyond), Math.max(...beyond)],
    floor: maxSeconds,
    bound: 'value at most',
    note: `${(median(full) / 1_000).toFixed(2)} s to ready, ${(median(empty) / 1_000).toFixed(2)} s without objects`,
  };
}
