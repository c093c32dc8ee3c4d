import type { ServerResponse } from 'node:http';

import type { Clock } from '../../base/clock.ts';
import { EventLoopTurns } from '../../base/event-loop-turns.ts';
import type { Subject } from '../../command/subject.ts';
import { bodyTurnMs } from '../../limits/requests.ts';
import type { HeldBytes } from '../../write/admission/held-bytes.ts';
import type { Writer } from '../../write/admission/writer.ts';
import type { Writers } from '../../write/admission/writers.ts';
import { YamlThread } from './yaml-thread.ts';

/** The reserved memory of a request that is being served; undefined before the first reservation. */
export type Serving = { hold: RequestHold | undefined };

/** The properties of a request from which the account of a reservation of memory, and its end, are determined. */
export type Holding = {
  readonly res: ServerResponse;
  readonly subject: Subject;
  readonly sender: { readonly address: string };
  readonly serving: Serving;
};

/**
 * The resources that requests share for their bodies: memory, turns of the event loop, and the YAML thread. Memory is
 * limited in total and for each user or address.
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
   * Returns undefined if this turn has time to decode a large body; otherwise resolves in a later turn that has time.
   */
  turn(): Promise<void> | undefined {
    return this.#turns.soon('');
  }

  /** Returns the account of a request, by which its memory and its waits are limited. */
  writerOf({ subject, sender }: Pick<Holding, 'subject' | 'sender'>): Writer {
    return this.#writers.of(subject, sender.address);
  }

  /** Reserves additional bytes until the request is answered. Returns false if a limit would be exceeded. */
  hold(holding: Holding, bytes: number): boolean {
    const { serving, res } = holding;
    serving.hold ??= new RequestHold(this.writerOf(holding), this.#held, res);
    return serving.hold.grow(bytes);
  }
}

/**
 * The memory that is reserved for one request. The memory is released when the request is handled and the response is
 * closed. A client may disconnect while its request is handled.
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

  /** Call this method after the response has been passed to the connection. */
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
