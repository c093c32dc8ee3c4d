import { Worker } from 'node:worker_threads';

import type { Clock, Timer } from '../../base/clock.ts';
import { LeastUsedQueue } from '../../base/least-used-queue.ts';
import { yamlHeapMegabytesMax, yamlIdleMs, yamlReadMs } from '../../limits/requests.ts';
import { yamlWorkerUrl, type ReadYaml } from './yaml-worker.ts';

/** The outcome of reading a body; `late` means that the time limit stopped the reading. */
export type YamlOutcome = ReadYaml | 'late';

type Waiting = { readonly bytes: Uint8Array; readonly settle: (outcome: YamlOutcome) => void };

/** `startedAt`: milliseconds on the monotonic clock. */
type Current = {
  readonly item: Waiting;
  readonly account: string;
  readonly startedAt: number;
  readonly limit: Timer;
};

/**
 * Reads YAML bodies in a thread, one after another: the parser takes milliseconds for each KiB, and cannot pause. The
 * next body is that of the account that has used the least time. The thread starts with the first body, ends after a
 * time without bodies, and is replaced if a body takes too long.
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
   * Reads a body. `account`: for fairness. `gone`: aborts when nobody waits for the body any more; the result is then
   * undefined.
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
    // Ignores the late answer of a thread that has been ended: the present body is another one.
    worker.on('message', (read: ReadYaml) => {
      if (worker === this.#worker) this.#settle(read);
    });
    // The usual cause of an error is a lack of memory.
    worker.on('error', () => {
      if (worker === this.#worker) this.#end('late');
    });
    // Comes last, because adding a listener keeps the process alive again.
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
