import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Test } from 'tap';

import type { Counts, Outcome, Question } from './worker.ts';

const only = process.env['SIM_SEED'];
const first = Number(process.env['SIM_FIRST'] ?? 1);
const isTraced = process.env['SIM_TRACE'] === '1';

export type Runs = {
  /** The number of runs, unless the environment says another one. */
  readonly count: number;
  readonly evolves: boolean;
  /** The compiled test, relative to `dist/test/simulation`. */
  readonly file: string;
  /** What must have happened in every 1,000 runs: at least so often, or a check has stopped checking. */
  readonly least: Readonly<Record<string, number>>;
};

/** The simulation in a thread of its own. */
class Simulator {
  readonly #worker = new Worker(new URL('worker.js', import.meta.url), { execArgv: [] });
  readonly #evolves: boolean;

  constructor(evolves: boolean) {
    this.#evolves = evolves;
  }

  async run(seed: number, traced: boolean): Promise<Outcome> {
    return (await this.#ask({ seed, isTraced: traced, evolves: this.#evolves })) as Outcome;
  }

  /** Occurrences in all runs together. */
  async end(): Promise<Counts> {
    const counts = (await this.#ask('counts')) as Counts;
    await this.#worker.terminate();
    return counts;
  }

  async #ask(question: Question): Promise<unknown> {
    this.#worker.postMessage(question);
    const [answer] = (await once(this.#worker, 'message')) as unknown[];
    return answer;
  }
}

/** Runs one seed after another. The first failure names the command that repeats it. */
export async function runSeeds(t: Test, { count, evolves, file, least }: Runs): Promise<void> {
  const length = Number(process.env['SIM_SEEDS'] ?? count);
  const seeds = only === undefined ? Array.from({ length }, (_, index) => first + index) : [Number(only)];
  const simulator = new Simulator(evolves);
  let failure: string | undefined;
  for (const seed of seeds) {
    const run = await simulator.run(seed, isTraced);
    for (const line of run.trace) t.comment(line);
    if (run.failure === undefined) continue;
    failure =
      `${run.failure}\nto see what happened: SIM_TRACE=1 SIM_SEED=${String(seed)} npx tap run --disable-coverage ` +
      `dist/test/simulation/${file}`;
    break;
  }
  const counts = await simulator.end();
  if (failure !== undefined) throw new Error(failure);
  t.pass(`${String(seeds.length)} runs`);
  if (isTraced) for (const [what, times] of counts) t.comment(`${what}: ${String(times)}`);
  if (seeds.length < Math.min(500, count)) return;
  const rare = Object.entries(least).filter(
    ([what, times]) => (counts.get(what) ?? 0) < (times * seeds.length) / 1_000,
  );
  t.strictSame(
    rare.map(([what, times]) => `${what}: ${String(counts.get(what) ?? 0)}, at least ${String(times)} in 1,000 runs`),
    [],
    'everything that can happen did happen',
  );
}

/** Runs each seed twice, in two threads. */
export async function repeatSeeds(t: Test, seeds: readonly number[], evolves: boolean): Promise<void> {
  const [one, other] = [new Simulator(evolves), new Simulator(evolves)];
  for (const seed of only === undefined ? seeds : [Number(only)]) {
    const [once, again] = [await one.run(seed, true), await other.run(seed, true)];
    t.ok(once.trace.length > 50, `seed ${String(seed)} has a trace of ${String(once.trace.length)} lines`);
    t.equal(once.trace.join('\n') === again.trace.join('\n'), true, `seed ${String(seed)}`);
  }
  await Promise.all([one.end(), other.end()]);
}
