import { pluginSocketQueuedBytesMax, pluginSocketQueuedMessagesMax } from './route-limits.ts';

type Message = string | Uint8Array;

/**
 * The received messages of one socket that its plugin has not consumed. Reading must pause while `isFull` returns true,
 * and may resume when `onRoom` is called.
 */
export class SocketInbox {
  readonly #onRoom: () => void;
  readonly #queued: Message[] = [];
  #queuedBytes = 0;
  /** Pending reads, in order. */
  readonly #waiting: ((result: IteratorResult<Message, undefined>) => void)[] = [];
  #isClosed = false;
  /** Each message is delivered once, even with several iterations. Leaving a loop does not close the socket. */
  readonly messages: AsyncIterable<Message> = { [Symbol.asyncIterator]: () => ({ next: async () => this.#next() }) };

  constructor(onRoom: () => void) {
    this.#onRoom = onRoom;
  }

  isFull(): boolean {
    return this.#queued.length >= pluginSocketQueuedMessagesMax || this.#queuedBytes >= pluginSocketQueuedBytesMax;
  }

  push(message: Message): void {
    if (this.#isClosed) return;
    const next = this.#waiting.shift();
    if (next !== undefined) {
      next({ done: false, value: message });
      return;
    }
    this.#queued.push(message);
    this.#queuedBytes += message.length;
  }

  /** Ends iterations after the messages that have been received. */
  close(): void {
    this.#isClosed = true;
    for (const next of this.#waiting.splice(0)) next({ done: true, value: undefined });
  }

  async #next(): Promise<IteratorResult<Message, undefined>> {
    const wasFull = this.isFull();
    const message = this.#queued.shift();
    if (message !== undefined) {
      this.#queuedBytes -= message.length;
      if (wasFull && !this.isFull()) this.#onRoom();
      return { done: false, value: message };
    }
    if (this.#isClosed) return { done: true, value: undefined };
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}
