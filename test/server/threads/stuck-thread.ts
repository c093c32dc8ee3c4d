import { parentPort, workerData } from 'node:worker_threads';

import { open } from 'lmdb';

import { endOnRequest } from '../../../src/server/threads/end-on-request.ts';

/** A thread within a transaction until the cell is set, or one that waits for a message that never comes. */
export type StuckStart = { readonly kind: 'transaction' | 'wait'; readonly path: string; readonly cells: Int32Array };

export const stuckThreadUrl: string = import.meta.url;

function run({ kind, path, cells }: StuckStart): void {
  endOnRequest();
  if (kind === 'wait') {
    parentPort?.postMessage('begun');
    return;
  }
  const tables = open({ path, noSubdir: true });
  tables.transactionSync(() => {
    tables.putSync('key', 'value');
    parentPort?.postMessage('begun');
    Atomics.wait(cells, 0, 0);
  });
  parentPort?.postMessage('committed');
}

if (parentPort !== null && isStart(workerData)) run(workerData);

/** Whether the module runs as a thread: the test loads it, too. */
function isStart(data: unknown): data is StuckStart {
  return typeof data === 'object' && data !== null && 'kind' in data;
}
