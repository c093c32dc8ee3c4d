import { Worker } from 'node:worker_threads';

import { within, type Clock } from '../../base/clock.ts';
import { threadStopMsMax } from '../../limits/threads.ts';
import { endNow } from './end-on-request.ts';

/** The messages that every thread may send first, and the message about an error that ended the thread. */
export type ThreadMessage<Reason> =
  /** The request cannot be served, and the thread has written nothing. */
  | { readonly kind: 'refused'; readonly reason: Reason; readonly detail: string }
  | { readonly kind: 'accepted' }
  | Failed;

/** The messages after `accepted`, whose other members each kind of thread declares. */
export type LaterMessage = { readonly kind: 'progress' | 'waits' | 'compared' | 'lines' | 'done' };

export type Failed = { readonly kind: 'failed'; readonly detail: string };

export type ThreadOptions = {
  /** The URL of the module that runs in the thread. */
  readonly url: string;
  readonly name: string;
  readonly workerData: object;
  readonly heapMegabytesMax: number;
  readonly clock: Clock;
};

/** A thread that serves one request, sends messages about it, and ends. Its module calls `endOnRequest`. */
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
    // The usual cause of an error is a lack of memory.
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
  async next(): Promise<Message | Failed | undefined> {
    while (this.#messages.length === 0 && !this.#hasEnded)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return this.#messages.shift();
  }

  /** Whether a message waits to be taken. */
  hasNext(): boolean {
    return this.#messages.length > 0;
  }

  send(message: string): void {
    this.#worker.postMessage(message);
  }

  /**
   * Waits for the end of the thread, which was asked to end. A thread that takes too long ends at the end of its turn
   * (`endOnRequest`).
   */
  async end(): Promise<void> {
    const { signal } = new AbortController();
    await within(this.#ended, { clock: this.#clock, ms: threadStopMsMax, signal });
    if (!this.#hasEnded) this.#worker.postMessage(endNow);
    await this.#ended;
  }
}
