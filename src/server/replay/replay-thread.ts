import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

import { within, type Clock } from '../../base/clock.ts';
import { privateDir } from '../../disk/data-dir.ts';
import { replayHeapMegabytesMax, replayMeetMsMax, replayStopMsMax } from '../../limits/replay.ts';
import { cellCount, gate, gateCell, more, stopCell, type ReplayTask, type ThreadMessage } from './replay-task.ts';
import { replayWorkerUrl } from './replay-worker.ts';

/** Removes the files of replays in a process that was killed. The caller has locked DATA_DIR. */
export function removeReplays(dataDir: string): void {
  rmSync(join(dataDir, replayFolder), { recursive: true, force: true });
}

const replayFolder = 'replay';

/** The thread of one replay, and its folder, which `stop` removes. */
export class ReplayThread {
  readonly #dir: string;
  readonly #clock: Clock;
  readonly #cells = new Int32Array(new SharedArrayBuffer(cellCount * Int32Array.BYTES_PER_ELEMENT));
  readonly #worker: Worker;
  readonly #messages: ThreadMessage[] = [];
  readonly #ended: Promise<void>;
  #hasEnded = false;
  #wake: () => void = () => undefined;

  constructor(task: Omit<ReplayTask, 'dir' | 'cells'>, clock: Clock) {
    this.#clock = clock;
    this.#dir = join(privateDir(join(task.config.dataDir, replayFolder)), randomUUID());
    const workerData: ReplayTask = { ...task, dir: this.#dir, cells: this.#cells };
    this.#worker = new Worker(new URL(replayWorkerUrl), {
      workerData,
      execArgv: [],
      name: 'replay',
      resourceLimits: { maxOldGenerationSizeMb: replayHeapMegabytesMax },
    });
    this.#worker.on('message', (message: ThreadMessage) => {
      this.#messages.push(message);
      this.#wake();
    });
    // The usual cause of an error is a lack of memory.
    this.#worker.on('error', (error) => {
      this.#messages.push({ kind: 'failed', reason: 'failed', detail: error.message });
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
  async next(): Promise<ThreadMessage | undefined> {
    while (this.#messages.length === 0 && !this.#hasEnded)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return this.#messages.shift();
  }

  /** Notifies the thread that the last lines were taken. */
  takeMore(): void {
    this.#worker.postMessage(more);
  }

  /**
   * Call this when the thread waits at the gate. The thread opens its view of the live tables in this turn, while the
   * event loop is held, for `replayMeetMsMax` at most. Returns false if the time was too short.
   */
  meet(): boolean {
    Atomics.store(this.#cells, gateCell, gate.asked);
    Atomics.notify(this.#cells, gateCell);
    Atomics.wait(this.#cells, gateCell, gate.asked, replayMeetMsMax);
    return Atomics.compareExchange(this.#cells, gateCell, gate.asked, gate.withdrawn) === gate.taken;
  }

  /** Ends the thread and removes its folder. */
  async stop(): Promise<void> {
    Atomics.store(this.#cells, stopCell, 1);
    Atomics.notify(this.#cells, gateCell);
    // The thread may still wait until its lines are taken.
    this.takeMore();
    const { signal } = new AbortController();
    await within(this.#ended, { clock: this.#clock, ms: replayStopMsMax, signal });
    if (!this.#hasEnded) await this.#worker.terminate();
    await rm(this.#dir, { recursive: true, force: true });
  }
}
