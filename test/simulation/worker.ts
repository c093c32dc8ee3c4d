import { parentPort } from 'node:worker_threads';

import { must } from '../../src/base/unreachable.ts';
import { Coverage } from './coverage.ts';
import { simulate } from './simulation.ts';
import { TablesPool } from './node/tables-pool.ts';

/**
 * Runs one seed after another, as it is asked to: in a thread without a test runner, which would watch over every
 * promise.
 */

export type Question = { readonly seed: number; readonly isTraced: boolean; readonly evolves: boolean } | 'counts';
/** `failure`: the message of the promise that was broken. */
export type Outcome = { readonly failure: string | undefined; readonly trace: readonly string[] };
export type Counts = ReadonlyMap<string, number>;

const port = must(parentPort, 'this is a worker');
const coverage = new Coverage();
const tables = new TablesPool();

port.on('message', (question: Question) => {
  void answer(question).then((outcome) => {
    port.postMessage(outcome);
  });
});

async function answer(question: Question): Promise<Outcome | Counts> {
  if (question !== 'counts') {
    const { error, trace } = await simulate(question.seed, coverage, { ...question, tables });
    return {
      failure:
        error instanceof Error
          ? (error.stack ?? error.message)
          : error === undefined
            ? undefined
            : JSON.stringify(error),
      trace,
    };
  }
  await tables.close();
  return coverage.counts;
}
