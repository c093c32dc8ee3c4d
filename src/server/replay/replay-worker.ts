import { mkdirSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

import { messageOf } from '../../base/error-message.ts';
import { endOnRequest } from '../threads/end-on-request.ts';
import { yieldToRequests } from '../threads/yield-to-requests.ts';
import { AuditReplay } from './audit-replay.ts';
import { Replay } from './replay.ts';
import { RefusedError, StoppedError } from './replay-errors.ts';
import { more, stopCell, type ReplayMessage, type ReplayPorts, type ReplayTask } from './replay-task.ts';

export const replayWorkerUrl: string = import.meta.url;

/** Runs one replay in this thread. */
async function run(task: ReplayTask): Promise<void> {
  const taken: (() => void)[] = [];
  const post = (message: ReplayMessage): void => {
    parentPort?.postMessage(message);
  };
  parentPort?.on('message', (message) => {
    if (message === more) taken.shift()?.();
  });
  const ports: ReplayPorts = {
    post,
    isStopped: () => Atomics.load(task.cells, stopCell) !== 0,
    send: async (message) => {
      post(message);
      await new Promise<void>((resolve) => {
        taken.push(resolve);
      });
    },
  };
  const { work } = task;
  const replay = work.kind === 'compare-audit' ? new AuditReplay({ ...task, work }, ports) : new Replay(task, ports);
  try {
    mkdirSync(task.dir, { recursive: true, mode: 0o700 });
    await replay.run();
  } catch (error) {
    if (error instanceof RefusedError && !replay.isAccepted)
      post({ kind: 'refused', reason: error.reason, detail: error.message });
    else if (!(error instanceof StoppedError)) post({ kind: 'failed', detail: causeOf(error) });
  } finally {
    await replay.close();
    parentPort?.close();
  }
}

function causeOf(error: unknown): string {
  const { cause } = error instanceof Error ? error : {};
  return cause instanceof Error ? `${messageOf(error)}: ${cause.message}` : messageOf(error);
}

if (parentPort !== null && isTask(workerData)) {
  // The comparison of the audit indexes takes longest. With a lower priority, it leaves the processor to the comparison
  // of the objects, which the client receives first.
  yieldToRequests(workerData.work.kind === 'compare-audit' ? 'late' : 'background');
  endOnRequest();
  void run(workerData);
}

/** Returns whether the module runs as a replay thread. The code that starts the thread also loads this module. */
function isTask(data: unknown): data is ReplayTask {
  return typeof data === 'object' && data !== null && 'work' in data && 'cells' in data;
}
