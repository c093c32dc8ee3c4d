import { join } from 'node:path';

import type { Bench } from './bench.ts';
import type { Result } from './result.ts';
import { compare } from './rounds.ts';
import { startSubject, type Subject } from './subject/server.ts';

/** The lowest accepted ratio of a hot path's rate to the rate of the earlier build. */
const floor = 0.97;

type Loads = {
  /** Prepares the earlier build. Returns a function that runs one round of load on it and returns the rate. */
  readonly earlier: (subject: Subject) => Promise<() => Promise<number>>;
  readonly present: () => Promise<number>;
};

/**
 * Compares the rate of this build with the rate of the build that `--before DIR` names, in alternating rounds. Returns
 * no result without this option.
 */
export async function withEarlier(bench: Bench, measure: string, loads: Loads): Promise<readonly Result[]> {
  if (bench.before === undefined) return [];
  const subject = await startSubject(bench.newDataDir(), { program: join(bench.before, 'dist/src/main.js') });
  try {
    const comparison = await compare(bench.rounds, await loads.earlier(subject), loads.present);
    return [{ measure: `${measure}, against the earlier build`, unit: '/s', ...comparison, floor }];
  } finally {
    await subject.stop();
  }
}
