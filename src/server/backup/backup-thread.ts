import { Worker } from 'node:worker_threads';

import { within, type Clock } from '../../base/clock.ts';
import { backupHeapMegabytesMax, backupStopMsMax } from '../../limits/backup.ts';
import type { BackupMessage, BackupTask } from './backup-task.ts';
import { backupWorkerUrl } from './backup-worker.ts';

/** The thread of one backup. The thread removes its incomplete files before the thread ends. */
export class BackupThread {
  readonly #clock: Clock;
  readonly #stop = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #worker: Worker;
  readonly #messages: BackupMessage[] = [];
  readonly #ended: Promise<void>;
  #hasEnded = false;
  #wake: () => void = () => undefined;

  constructor(task: Omit<BackupTask, 'stop'>, clock: Clock) {
    this.#clock = clock;
    const workerData: BackupTask = { ...task, stop: this.#stop };
    this.#worker = new Worker(new URL(backupWorkerUrl), {
      workerData,
      execArgv: [],
      name: 'backup',
      resourceLimits: { maxOldGenerationSizeMb: backupHeapMegabytesMax },
    });
    this.#worker.on('message', (message: BackupMessage) => {
      this.#messages.push(message);
      this.#wake();
    });
    this.#worker.on('error', (error) => {
      this.#messages.push({ kind: 'failed', detail: error.message });
      this.#wake();
    });
    this.#ended = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        this.#hasEnded = true;
        this.#wake();
        resolve();
      });
    });
  }

  /** The next message; undefined after the last one. */
  async next(): Promise<BackupMessage | undefined> {
    while (this.#messages.length === 0 && !this.#hasEnded)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return this.#messages.shift();
  }

  /** Ends the thread. A complete backup stays in the folder. */
  async stop(): Promise<void> {
    Atomics.store(this.#stop, 0, 1);
    const { signal } = new AbortController();
    await within(this.#ended, { clock: this.#clock, ms: backupStopMsMax, signal });
    if (!this.#hasEnded) await this.#worker.terminate();
  }
}
