import type { ServerResponse } from 'node:http';

import type { Clock } from '../../base/clock.ts';
import { EventLoopTurns } from '../../base/event-loop-turns.ts';
import type { Subject } from '../../command/subject.ts';
import { bodyTurnMs } from '../../limits/requests.ts';
import type { HeldBytes } from '../../write/admission/held-bytes.ts';
import type { Writer } from '../../write/admission/writer.ts';
import type { Writers } from '../../write/admission/writers.ts';
import { YamlThread } from './yaml-thread.ts';

/** A request while it is served, with its reserved memory. */
export type Serving = { hold: RequestHold | undefined };

/** The parts of a request that identify its account. */
export type Holding = {
  readonly res: ServerResponse;
  readonly subject: Subject;
  readonly sender: { readonly address: string };
  readonly serving: Serving;
};

/**
 * The resources that requests share for their bodies: memory, limited by user or address and in total, together with
 * writes in flight; turns of the event loop; and the thread for YAML.
 */
export class RequestMemory {
  readonly #held: HeldBytes;
  readonly #writers: Pick<Writers, 'of'>;
  readonly #turns: EventLoopTurns;
  readonly yaml: YamlThread;

  constructor({
    held,
    writers,
    clock,
  }: {
    readonly held: HeldBytes;
    readonly writers: Pick<Writers, 'of'>;
    readonly clock: Clock;
  }) {
    this.#held = held;
    this.#turns = new EventLoopTurns(clock, bodyTurnMs);
    this.#writers = writers;
    this.yaml = new YamlThread(clock);
  }

  /**
   * Undefined if this turn has time to decode a large body. Otherwise resolves when a turn has: many bodies may be
   * complete at once.
   */
  turn(): Promise<void> | undefined {
    return this.#turns.soon('');
  }

  /** Reserves further bytes until the request is answered. Returns false, without a reservation, if they do not fit. */
  hold({ serving, subject, sender, res }: Holding, bytes: number): boolean {
    serving.hold ??= new RequestHold(this.#writers.of(subject, sender.address), this.#held, res);
    return serving.hold.grow(bytes);
  }
}

/**
 * The reservation of one request. It ends when the request has been handled, even after its client has disconnected,
 * and its response is sent.
 */
export class RequestHold {
  readonly #writer: Writer;
  readonly #held: HeldBytes;
  #bytes = 0;
  #isServed = false;
  #isClosed: boolean;

  constructor(writer: Writer, held: HeldBytes, res: ServerResponse) {
    this.#writer = writer;
    this.#held = held;
    this.#isClosed = res.closed;
    if (!res.closed) {
      res.once('close', () => {
        this.#isClosed = true;
        this.#releaseAtEnd();
      });
    }
  }

  grow(bytes: number): boolean {
    if (!this.#held.hold(this.#writer, bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Call it when the response was passed to the connection. */
  served(): void {
    this.#isServed = true;
    this.#releaseAtEnd();
  }

  #releaseAtEnd(): void {
    if (!this.#isServed || !this.#isClosed) return;
    this.#held.release(this.#writer, this.#bytes);
    this.#bytes = 0;
  }
}
