import { Worker } from 'node:worker_threads';

import type { Clock, Timer } from '../../base/clock.ts';
import { LeastUsedQueue } from '../../base/least-used-queue.ts';
import { yamlHeapMegabytesMax, yamlIdleMs, yamlReadMs } from '../../limits/requests.ts';
import { yamlWorkerUrl, type ReadYaml } from './yaml-worker.ts';

/** The outcome of reading a body; `late` means that the reading exceeded the limit of time or memory. */
export type YamlOutcome = ReadYaml | 'late';

type Waiting = {
  readonly bytes: Uint8Array;
  readonly settle: (outcome: YamlOutcome) => void;
};

/** The body that is being read. `startedAt` is in milliseconds of the monotonic clock. */
type Current = {
  readonly item: Waiting;
  readonly account: string;
  readonly startedAt: number;
  readonly limit: Timer;
};

/**
 * Reads YAML bodies in a thread, one after another, because the parser takes milliseconds for each KiB, and cannot
 * pause. The next body belongs to the account that has used the least time. The thread starts with the first body, ends
 * after a time without bodies, and is replaced if a body takes too much time or memory.
 */
export class YamlThread {
  readonly #clock: Clock;
  readonly #waiting = new LeastUsedQueue<string, Waiting>();
  #worker: Worker | undefined;
  /** The timer that ends the thread after a time without bodies. */
  #idle: Timer | undefined;
  #current: Current | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Reads a body. The time of the thread is divided fairly among the accounts. An abort of `gone` means that the body
   * is no longer needed. If the reading has not started then, the result is undefined.
   */
  async read(bytes: Uint8Array, account: string, gone: AbortSignal): Promise<YamlOutcome | undefined> {
    return new Promise((resolve) => {
      const item: Waiting = { bytes, settle: resolve };
      gone.addEventListener(
        'abort',
        () => {
          if (this.#waiting.remove(account, item)) resolve(undefined);
        },
        { once: true },
      );
      this.#waiting.add(account, item);
      this.#next();
    });
  }

  #next(): void {
    if (this.#current !== undefined) return;
    const next = this.#waiting.take();
    this.#idle?.cancel();
    if (next === undefined) {
      this.#idle = this.#clock.after(yamlIdleMs, () => {
        this.#stop();
      });
      return;
    }
    const limit = this.#clock.after(yamlReadMs, () => {
      this.#end('late');
    });
    this.#current = { ...next, startedAt: this.#clock.monotonic(), limit };
    this.#worker ??= this.#start();
    this.#worker.postMessage(next.item.bytes);
  }

  #start(): Worker {
    const worker = new Worker(new URL(yamlWorkerUrl), {
      execArgv: [],
      name: 'yaml',
      resourceLimits: { maxOldGenerationSizeMb: yamlHeapMegabytesMax },
    });
    // Ignores a message that a replaced thread sent before its end, because the current body was sent to another
    // thread.
    worker.on('message', (read: ReadYaml) => {
      if (worker === this.#worker) this.#settle(read);
    });
    // The usual cause of an error is that the body takes too much memory. The outcome is the same as if it took too
    // much time.
    worker.on('error', () => {
      if (worker === this.#worker) this.#end('late');
    });
    // `unref` is called last, since adding a listener refs the thread again.
    worker.unref();
    return worker;
  }

  #end(outcome: YamlOutcome): void {
    this.#stop();
    this.#settle(outcome);
  }

  #stop(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
  }

  #settle(outcome: YamlOutcome): void {
    const current = this.#current;
    this.#current = undefined;
    if (current !== undefined) {
      current.limit.cancel();
      this.#waiting.charge(current.account, this.#clock.monotonic() - current.startedAt);
      current.item.settle(outcome);
    }
    this.#next();
  }
}
