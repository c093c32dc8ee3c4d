import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import type { Clock } from '../../base/clock.ts';
import { privateDir } from '../../disk/data-dir.ts';
import { replayAuditHeapMegabytesMax, replayHeapMegabytesMax } from '../../limits/replay.ts';
import { MessageThread } from '../threads/message-thread.ts';
import { cellCount, more, stopCell, type ReplayTask, type ReplayMessage } from './replay-task.ts';
import { replayWorkerUrl } from './replay-worker.ts';

/** Removes the files that the replays of a killed process have left. The caller must have locked DATA_DIR. */
export function removeReplays(dataDir: string): void {
  rmSync(join(dataDir, replayFolder), { recursive: true, force: true });
}

const replayFolder = 'replay';

/** The thread and the folder of one replay. */
export class ReplayThread {
  readonly #dir: string;
  readonly #cells = new Int32Array(new SharedArrayBuffer(cellCount * Int32Array.BYTES_PER_ELEMENT));
  readonly #thread: MessageThread<ReplayMessage>;

  constructor(task: Omit<ReplayTask, 'dir' | 'cells'>, clock: Clock) {
    this.#dir = join(privateDir(join(task.config.dataDir, replayFolder)), randomUUID());
    const workerData: ReplayTask = { ...task, dir: this.#dir, cells: this.#cells };
    const heapMegabytesMax = task.work.kind === 'compare-audit' ? replayAuditHeapMegabytesMax : replayHeapMegabytesMax;
    this.#thread = new MessageThread({ url: replayWorkerUrl, name: 'replay', workerData, heapMegabytesMax, clock });
  }

  /** Waits for the next message of the thread; undefined after the last message. */
  async next(): Promise<ReplayMessage | undefined> {
    return this.#thread.next();
  }

  /** Returns whether `next` returns a message immediately. */
  hasNext(): boolean {
    return this.#thread.hasNext();
  }

  /** Requests more lines from the thread, which waits after each message with lines. */
  takeMore(): void {
    this.#thread.send(more);
  }

  /** Ends the thread and removes its folder. */
  async stop(): Promise<void> {
    Atomics.store(this.#cells, stopCell, 1);
    // The thread may still wait for a request for more lines.
    this.takeMore();
    await this.#thread.end();
    await rm(this.#dir, { recursive: true, force: true });
  }
}
