import { Worker } from 'node:worker_threads';

import { within, type Clock } from '../../base/clock.ts';
import { threadStopMsMax } from '../../limits/threads.ts';
import { endNow } from './end-on-request.ts';

/** The first message of a thread, and the message after an error that ended the thread. */
export type ThreadMessage<Reason> =
  /** The thread rejects the request, which has no effect. */
  | { readonly kind: 'refused'; readonly reason: Reason; readonly detail: string }
  | { readonly kind: 'accepted' }
  | Failed;

/** The messages after `accepted`. Each kind of thread declares the other members of these messages. */
export type LaterMessage = { readonly kind: 'progress' | 'compared' | 'lines' | 'done' };

export type Failed = {
  readonly kind: 'failed';
  readonly detail: string;
};

export type ThreadOptions = {
  /** The URL of the module that runs in the thread. */
  readonly url: string;
  readonly name: string;
  readonly workerData: object;
  readonly heapMegabytesMax: number;
  readonly clock: Clock;
};

/**
 * A thread that serves one request, sends messages about the request, and ends. The thread's module must call
 * `endOnRequest`.
 */
export class MessageThread<Message> {
  readonly #clock: Clock;
  readonly #worker: Worker;
  readonly #messages: (Message | Failed)[] = [];
  readonly #ended: Promise<void>;
  #hasEnded = false;
  #wake: () => void = () => undefined;

  constructor({ url, name, workerData, heapMegabytesMax, clock }: ThreadOptions) {
    this.#clock = clock;
    this.#worker = new Worker(new URL(url), {
      workerData,
      execArgv: [],
      name,
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
    });
    this.#worker.on('message', (message: Message) => {
      this.#messages.push(message);
      this.#wake();
    });
    // The usual cause is that the thread has exceeded its memory limit.
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

  /** Waits for the next message of the thread; undefined after the last message. */
  async next(): Promise<Message | Failed | undefined> {
    while (this.#messages.length === 0 && !this.#hasEnded)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return this.#messages.shift();
  }

  /** Returns whether `next` returns a message immediately. */
  hasNext(): boolean {
    return this.#messages.length > 0;
  }

  send(message: string): void {
    this.#worker.postMessage(message);
  }

  /**
   * Waits for the end of the thread, which the caller has requested. After a time limit, the thread ends after its
   * current turn (`endOnRequest`).
   */
  async end(): Promise<void> {
    const { signal } = new AbortController();
    await within(this.#ended, { clock: this.#clock, ms: threadStopMsMax, signal });
    if (!this.#hasEnded) this.#worker.postMessage(endNow);
    await this.#ended;
  }
}
