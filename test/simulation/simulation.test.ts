import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { test } from 'tap';

import { appendFates, incidents } from './faults.ts';
import type { Counts, Question, Outcome } from './worker.ts';

/** README.md describes the simulated parts, the checks, and how to inspect a run. */

const only = process.env['SIM_SEED'];
const first = Number(process.env['SIM_FIRST'] ?? 1);
const seeds =
  only === undefined
    ? Array.from({ length: Number(process.env['SIM_SEEDS'] ?? 2_000) }, (_, index) => first + index)
    : [Number(only)];
const isTraced = process.env['SIM_TRACE'] === '1';

/** What must have happened in every 1,000 runs: at least so often, or a check has stopped checking. */
const least: Readonly<Record<string, number>> = {
  ...Object.fromEntries(appendFates.map((fate) => [`append ${fate}`, 200])),
  ...Object.fromEntries(incidents.map((incident) => [`incident ${incident}`, incident === 'longPause' ? 15 : 50])),
  'append in conflict': 500,
  'append unavailable': 50,
  'append unknown': 1_000,
  'rejected in flight': 50,
  'landed after its node died': 50,
  'delivered, perhaps before its acknowledgement': 500,
  'stale read': 200,
  'stale read of an object': 100,
  'read failed': 200,
  crash: 400,
  retired: 40,
  'started with read models kept': 1_000,
  'started with read models lost': 100,
  'started with read models behind': 100,
  'answered ok': 5_000,
  'answered ok, unchanged': 500,
  'answered nothing': 200,
  'answered unavailable': 300,
  'answered already-exists': 300,
  'answered not-found': 300,
  'answered stale-version': 100,
  'answered precondition-failed': 50,
  'answered unique-value-taken': 500,
  'answered invalid': 3,
  'answered referenced': 5,
  'an object names another one': 50,
  'event ReferencesIntended': 30,
  'event DeletionIntended': 30,
  'event IntentWithdrawn': 5,
  '503, and it stands all the same': 5,
  'event ObjectCreated': 1_000,
  'event ObjectUpdated': 1_000,
  'event ObjectDeletionRequested': 400,
  'event ObjectDeleted': 400,
  'event NameFenced': 15,
  'a write claims several values': 200,
  duel: 30,
  'claim given up': 100,
  'claim settled': 200,
  'a claim looked at: pending': 50,
  'a leader is deposed': 100,
  'a deposed leader answers as it was': 100,
  'a deposed leader takes an append': 50,
  'a subscription ends': 300,
  'gap in a subscription': 5,
  'stopped at a gap': 5,
  'gap in the subscription of the audit indexes': 50,
  'an event that was left out is noticed': 20,
  signature: 5_000,
  'stamped by a wrong clock': 3,
  ...Object.fromEntries(appendFates.map((fate) => [`append of two ${fate}`, 15])),
  'append of two as it should': 200,
  'marked and removed': 300,
  'marked alone': 20,
  'caused ObjectDeleted': 5,
  'caused ValueReleased': 100,
  'release of unique serials': 50,
  'release of plain serials': 50,
  'another declaration counts': 50,
  'indexes are pending': 50,
  'indexes are claiming': 20,
  'an index is enforced': 20,
  'a late write takes an index back': 20,
  'all indexes are enforced in the end': 50,
  'lease taken over': 50,
  'lease released': 10,
  'a read that waits: reached': 1_000,
  'a read that waits: timeout': 20,
  list: 300,
  'a watch resumed': 2_000,
  'a watch ended: left': 1_000,
  'a watch ended: shutting-down': 20,
  'a watch ended: too-slow': 4,
  'events watched': 4_000,
  'a list goes on': 1_000,
  'a page waits in vain': 8,
  'a list and a watch are the state': 1_000,
  'an object of the past': 500,
  'no object in the past': 100,
  'a list of the past': 1_000,
  'a list of the past goes on': 500,
  'a past that the node has not folded': 5,
  'a past that is unavailable': 50,
};

/** The simulation in a thread of its own. */
class Simulator {
  readonly #worker = new Worker(new URL('worker.js', import.meta.url), { execArgv: [] });

  async run(seed: number, isTraced: boolean): Promise<Outcome> {
    return (await this.#ask({ seed, isTraced })) as Outcome;
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

test('several nodes over one faulty log are one service', async (t) => {
  const simulator = new Simulator();
  let failure: string | undefined;
  for (const seed of seeds) {
    const run = await simulator.run(seed, isTraced);
    for (const line of run.trace) t.comment(line);
    if (run.failure === undefined) continue;
    failure =
      `${run.failure}\nto see what happened: SIM_TRACE=1 SIM_SEED=${String(seed)} npx tap run --disable-coverage ` +
      'dist/test/simulation/simulation.test.js';
    break;
  }
  const counts = await simulator.end();
  if (failure !== undefined) throw new Error(failure);
  t.pass(`${String(seeds.length)} runs`);
  if (isTraced) for (const [what, times] of counts) t.comment(`${what}: ${String(times)}`);
  if (seeds.length < 500) return;
  const rare = Object.entries(least).filter(
    ([what, times]) => (counts.get(what) ?? 0) < (times * seeds.length) / 1_000,
  );
  t.strictSame(
    rare.map(([what, times]) => `${what}: ${String(counts.get(what) ?? 0)}, at least ${String(times)} in 1,000 runs`),
    [],
    'everything that can happen did happen',
  );
});

test('a seed reproduces its run exactly', async (t) => {
  const [one, other] = [new Simulator(), new Simulator()];
  for (const seed of only === undefined ? [2, 3, 5, 8, 13, 21] : seeds) {
    const [first, second] = [await one.run(seed, true), await other.run(seed, true)];
    t.ok(first.trace.length > 50, `seed ${String(seed)} has a trace of ${String(first.trace.length)} lines`);
    t.equal(first.trace.join('\n') === second.trace.join('\n'), true, `seed ${String(seed)}`);
  }
  await Promise.all([one.end(), other.end()]);
});
