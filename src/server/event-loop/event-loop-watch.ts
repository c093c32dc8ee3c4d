import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads';
import type { Logger } from 'pino';

import type { Clock, Timer } from '../../base/clock.ts';
import { eventLoopBeatMs, eventLoopHeldMs } from './event-loop-limits.ts';
import {
  beatCell,
  cellCount,
  eventLoopWorkerUrl,
  isFound,
  watchedMsCell,
  type WatcherStart,
} from './event-loop-worker.ts';
import type { CodeFolder } from '../../plugin/errors/error-attribution.ts';

export type EventLoopWatchOptions = {
  readonly log: Logger;
  readonly clock: Clock;
  /** The file descriptor of the process's log. */
  readonly fd: number;
};

/**
 * Detects a blocked event loop, and names the plugin that blocks the loop. A separate thread logs a block while the
 * block lasts. Afterwards, the main thread logs the duration. A suspension of the whole process is not a block.
 */
export class EventLoopWatch {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #cells = new Int32Array(new SharedArrayBuffer(cellCount * Int32Array.BYTES_PER_ELEMENT));
  readonly #port: MessagePort;
  readonly #worker: Worker;
  #timer: Timer | undefined;
  #beatAt: number;
  #watchedMs = 0;
  /** The number of blocks by plugin; '' stands for no known plugin. */
  readonly #held = new Map<string, number>();
  #delays: IntervalHistogram | undefined;

  constructor({ log, clock, fd }: EventLoopWatchOptions) {
    this.#log = log;
    this.#clock = clock;
    this.#beatAt = clock.monotonic();
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const workerData: WatcherStart = { port: port2, cells: this.#cells, level: log.levelVal, fd };
    this.#worker = new Worker(new URL(eventLoopWorkerUrl), {
      workerData,
      transferList: [port2],
      execArgv: [],
      name: 'event loop watch',
    });
    this.#worker.unref();
    this.#worker.on('error', (error) => {
      log.warn({ err: error }, 'the event loop watch has failed: blocks of the event loop are no longer reported');
    });
    this.#beat();
  }

  /** Sets the code folders of the running plugins. */
  know(suspects: readonly CodeFolder[]): void {
    this.#port.postMessage(suspects);
  }

  /** Returns the number of blocks by plugin; '' stands for no known plugin. */
  held(): ReadonlyMap<string, number> {
    return this.#held;
  }

  /**
   * Returns the delay of timers since the last call, in seconds, by quantile. The first call only begins the
   * measurement.
   */
  lag(): ReadonlyMap<string, number> {
    const delays = (this.#delays ??= monitorEventLoopDelay({ resolution: lagResolutionMs }));
    delays.enable();
    const quantiles =
      delays.count === 0
        ? []
        : ([
            ['0.5', delays.percentile(50)],
            ['0.99', delays.percentile(99)],
            ['1', delays.max],
          ] as const);
    const lags = new Map(
      quantiles.map(([quantile, nanoseconds]) => [quantile, Math.max(0, nanoseconds / 1e9 - lagResolutionMs / 1e3)]),
    );
    delays.reset();
    return lags;
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#delays?.disable();
    this.#port.close();
    await this.#worker.terminate();
  }

  #beat(): void {
    const now = this.#clock.monotonic();
    const lateMs = now - this.#beatAt - eventLoopBeatMs;
    const watchedMs = Atomics.load(this.#cells, watchedMsCell);
    // Excludes the time in which the watcher's thread was also suspended, or had not started.
    const heldMs = Math.min(lateMs, (watchedMs - this.#watchedMs) | 0);
    if (heldMs >= eventLoopHeldMs) this.#report(Math.round(heldMs));
    this.#beatAt = now;
    this.#watchedMs = watchedMs;
    Atomics.add(this.#cells, beatCell, 1);
    this.#timer = this.#clock.after(eventLoopBeatMs, () => {
      this.#beat();
    });
  }

  #report(heldMs: number): void {
    const beat = Atomics.load(this.#cells, beatCell);
    let plugin: string | undefined;
    for (
      let received = receiveMessageOnPort(this.#port);
      received !== undefined;
      received = receiveMessageOnPort(this.#port)
    ) {
      const found: unknown = received.message;
      if (isFound(found) && found.beat === beat) plugin ??= found.plugin;
    }
    this.#held.set(plugin ?? '', (this.#held.get(plugin ?? '') ?? 0) + 1);
    this.#log.warn(
      { ...(plugin === undefined ? {} : { plugin }), heldMs },
      plugin === undefined ? 'the event loop was blocked' : 'a plugin blocked the event loop',
    );
  }
}

const lagResolutionMs = 20;
