import { Worker } from 'node:worker_threads';

import type { Clock, Timer } from '../../base/clock.ts';
import { LeastUsedQueue } from '../../base/least-used-queue.ts';
import { yamlHeapMegabytesMax, yamlIdleMs, yamlReadMs } from '../../limits/requests.ts';
import { yamlWorkerUrl, type ReadYaml } from './yaml-worker.ts';

/** `late` means that reading the body exceeded the limit of time or memory. */
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
 * Reads YAML bodies in a thread, one after another, because the parser takes milliseconds for each KiB. The account
 * that has used the least time is next. A body that takes too much time or memory ends the thread.
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

  /** Reads a body. Resolves with undefined if `gone` aborts before the reading starts. */
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
    // A replaced thread may have sent a message before its end.
    worker.on('message', (read: ReadYaml) => {
      if (worker === this.#worker) this.#settle(read);
    });
    // The usual cause of an error is a body that takes too much memory.
    worker.on('error', () => {
      if (worker === this.#worker) this.#end('late');
    });
    // Adding a listener would ref the thread again, so `unref` is last.
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
