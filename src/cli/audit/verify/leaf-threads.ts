import { Worker } from 'node:worker_threads';

import { leafWorkerUrl, type BlockLeaves, type LineBlock } from './leaf-worker.ts';

/**
 * Threads that parse and hash the lines of an export. The threads receive the blocks of lines in rotation. A thread
 * starts when it receives its first block.
 */
export class LeafThreads {
  readonly count: number;
  readonly #threads: LeafThread[] = [];
  #blocks = 0;

  /** `count`: the number of threads; 0 for none. */
  constructor(count: number) {
    this.count = count;
  }

  /** Returns the leaves of a block of lines; undefined if there are no threads. */
  leavesOf(lines: readonly Uint8Array[]): Promise<BlockLeaves> | undefined {
    if (this.count === 0) return undefined;
    const turn = this.#blocks % this.count;
    this.#blocks += 1;
    const leaves = (this.#threads[turn] ??= new LeafThread()).leavesOf(lines);
    // If an earlier block has a problem, no caller awaits this promise. This handler prevents an unhandled rejection.
    leaves.catch(() => undefined);
    return leaves;
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map(async (thread) => thread.close()));
  }
}

type Waiting = { readonly resolve: (leaves: BlockLeaves) => void; readonly reject: (error: Error) => void };

class LeafThread {
  readonly #worker = new Worker(new URL(leafWorkerUrl), { name: 'leaves', execArgv: [] });
  readonly #waiting: Waiting[] = [];
  #failure: Error | undefined;

  constructor() {
    this.#worker.on('message', (leaves: BlockLeaves) => this.#waiting.shift()?.resolve(leaves));
    this.#worker.on('error', (error) => {
      this.#end(error);
    });
    this.#worker.on('exit', () => {
      this.#end(new Error('the thread that hashes lines has ended'));
    });
  }

  /** Rejects with the error that ended the thread. */
  async leavesOf(lines: readonly Uint8Array[]): Promise<BlockLeaves> {
    const block = blockOf(lines);
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) {
        reject(this.#failure);
        return;
      }
      this.#waiting.push({ resolve, reject });
      this.#worker.postMessage(block, [block.bytes.buffer, block.ends.buffer]);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #end(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
  }
}

/**
 * Copies the lines into new memory, which can be transferred to a thread. The memory of the lines is shared with other
 * blocks.
 */
function blockOf(lines: readonly Uint8Array[]): LineBlock {
  const ends = new Uint32Array(lines.length);
  let size = 0;
  for (const [at, { length }] of lines.entries()) {
    size += length;
    ends[at] = size;
  }
  const bytes = new Uint8Array(size);
  for (const [at, line] of lines.entries()) bytes.set(line, (ends[at] ?? 0) - line.length);
  return { bytes, ends };
}
