import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

import { systemClock } from '../../base/clock.ts';
import { trialHeapMebibytesMax } from '../../limits/plugins.ts';

/** Starts the file at `url` in a new process, in which a plugin's module may run. The file must call `runInProcess`. */
export function forkModuleProcess(url: string, start: unknown): ChildProcess {
  return fork(fileURLToPath(url), [JSON.stringify(start)], {
    execArgv: [`--max-old-space-size=${String(trialHeapMebibytesMax)}`],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // The options of this process, for example a debugger port, must not apply to the new process.
    env: { ...process.env, NODE_OPTIONS: '' },
  });
}

type Main<Start> = {
  /** The URL of the calling file. */
  readonly url: string;
  /** The time limit of the process in milliseconds. */
  readonly limitMs: number;
  readonly isStart: (start: unknown) => start is Start;
  readonly run: (start: Start) => Promise<void>;
};

/**
 * Calls `run` if the calling file is the main file of a process that `forkModuleProcess` started. Otherwise does
 * nothing. The process ends when its parent disconnects, and at the latest after `limitMs`.
 */
export async function runInProcess<Start>({ url, limitMs, isStart, run }: Main<Start>): Promise<void> {
  const watchdog = `watchdog of ${url}`;
  if (!isMainThread) {
    if (workerData === watchdog) endProcessAfter(limitMs);
    return;
  }
  if (process.argv[1] !== fileURLToPath(url)) return;
  const start: unknown = JSON.parse(process.argv[2] ?? 'null');
  if (!isStart(start)) return;
  process.on('disconnect', () => {
    process.exit();
  });
  await once(new Worker(new URL(url), { workerData: watchdog }), 'online');
  await run(start);
}

/**
 * Ends the process after a time limit, in case the parent was killed and cannot end the process. Runs in a worker
 * thread, because the module may block the main thread.
 */
function endProcessAfter(limitMs: number): void {
  parentPort?.on('message', () => undefined);
  systemClock.after(limitMs, () => {
    process.kill(process.pid, 'SIGKILL');
  });
}
