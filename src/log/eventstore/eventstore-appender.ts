import type { AppendResult, EventData } from '@eventstore/db-client';

import { delay } from '../../base/clock.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import type { EventStoreUrl } from '../../config/eventstore-url.ts';
import { LogClient } from './eventstore-client.ts';
import type { LogDriver } from './eventstore-client.ts';
import { faultOf, wasNeverSent, wasReplied } from './eventstore-errors.ts';
import type { Fault } from './eventstore-errors.ts';
import { logCloseMs, logReplyMs, logSendWaitMs } from './eventstore-limits.ts';
import { isStrayAppendReply } from './eventstore-stray.ts';

export type Reply =
  /** `position` is undefined if the server does not return a position. */
  | {
      readonly kind: 'appended';
      readonly revision: number;
      readonly position: { readonly commit: bigint; readonly prepare: bigint } | undefined;
    }
  /** The server replied that the events were not appended. */
  | { readonly kind: 'answered'; readonly fault: Fault; readonly cause: unknown }
  | { readonly kind: 'not-sent'; readonly fault: Fault; readonly cause: unknown }
  | { readonly kind: 'unknown'; readonly fault: Fault; readonly cause: unknown };

type Append = {
  readonly stream: string;
  readonly events: EventData[];
  readonly expected: bigint | 'no_stream';
  readonly settle: (reply: Reply) => void;
  timer: Timer;
};

/** The errors that confirm that no event was appended. */
const refusals: ReadonlySet<Fault['kind']> = new Set(['wrong-version', 'tombstone', 'too-large', 'refused']);

/**
 * The state of the connection.
 *
 * - `cold`: the next append connects.
 * - `connecting`: appends wait.
 * - `first`: one append is sent at a time, because later appends on a new stream could overtake the first append.
 * - `open`: appends are sent at once.
 * - `cutting`: appends wait while the stream is discarded.
 */
type Gate = 'cold' | 'connecting' | 'first' | 'open' | 'cutting';

/**
 * Sends appends to one EventStoreDB over one stream of the driver. The driver has one table of pending replies for the
 * whole process, and an error of a stream clears the table. After any failure other than a reply to one append, all
 * appends in flight therefore return `unknown`. The next append then creates a new client.
 */
export class Appender {
  readonly #connectTo: () => LogDriver;
  readonly #clock: Clock;
  #client: LogDriver | undefined;
  #gate: Gate = 'cold';
  /** The appends that are not sent yet, in order. */
  #waiting: Append[] = [];
  readonly #inFlight = new Set<Append>();
  #closed = false;

  constructor(connectTo: () => LogDriver, clock: Clock) {
    this.#connectTo = connectTo;
    this.#clock = clock;
  }

  append(stream: string, events: EventData[], expected: bigint | 'no_stream'): Promise<Reply> {
    return new Promise((settle) => {
      const append: Append = { stream, events, expected, settle, timer: none };
      if (this.#gate === 'open' || (this.#gate === 'first' && this.#inFlight.size === 0)) {
        this.#send(append);
        return;
      }
      append.timer = this.#clock.after(logSendWaitMs, () => {
        this.#giveUp(append);
      });
      this.#waiting.push(append);
      if (this.#gate === 'cold') void this.#connect();
    });
  }

  /** Limits the stream to its last `maxCount` events, to save space. */
  keepLast(stream: string, maxCount: number): Promise<unknown> {
    return (
      this.#client?.setStreamMetadata(stream, { maxCount }, { expectedRevision: 'no_stream' }) ??
      Promise.reject(new Error('the log is not connected'))
    );
  }

  #giveUp(append: Append): void {
    const at = this.#waiting.indexOf(append);
    if (at >= 0) this.#waiting.splice(at, 1);
    const cause = new Error(`no connection within ${logSendWaitMs.toString()} ms`);
    append.settle({ kind: 'not-sent', fault: { kind: 'away', reason: cause.message }, cause });
  }

  async #connect(): Promise<void> {
    this.#gate = 'connecting';
    try {
      const client = (this.#client = this.#connectTo());
      await this.#inTime(client.warmUp());
    } catch (cause) {
      this.#refuseWaiting(faultOf(cause), cause);
      await this.#discard();
      this.#reopen();
      return;
    }
    if (this.#closed) return;
    this.#gate = 'first';
    this.#sendNext();
  }

  async #inTime(call: Promise<void>): Promise<void> {
    const waited = new AbortController();
    const late = delay(this.#clock, logReplyMs, waited.signal).then(() => {
      throw new Error(`no reply within ${logReplyMs.toString()} ms`);
    });
    try {
      await Promise.race([call, late]);
    } finally {
      late.catch(() => undefined);
      waited.abort();
    }
  }

  #refuseWaiting(fault: Fault, cause: unknown): void {
    for (const append of this.#waiting.splice(0)) {
      append.timer.cancel();
      append.settle({ kind: 'not-sent', fault, cause });
    }
  }

  /** Sends the waiting appends. On a new stream, sends one append and then waits for its reply. */
  #sendNext(): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      next.timer.cancel();
      this.#send(next);
      if (this.#gate === 'first') return;
    }
  }

  #send(append: Append): void {
    const client = this.#client;
    if (client === undefined) throw new Error('invariant violated: an append is sent without a client');
    this.#inFlight.add(append);
    append.timer = this.#clock.after(logReplyMs, () => {
      // The reason for the missing reply may affect all appends in flight.
      this.#disconnect(new Error(`no reply within ${logReplyMs.toString()} ms`));
    });
    client.appendToStream(append.stream, append.events, { expectedRevision: append.expected }).then(
      (result) => {
        this.#succeeded(append, result);
      },
      (error: unknown) => {
        this.#failed(append, error);
      },
    );
  }

  #succeeded(append: Append, { nextExpectedRevision, position }: AppendResult): void {
    this.#settle(append, { kind: 'appended', revision: Number(nextExpectedRevision), position });
    this.#opened();
  }

  #failed(append: Append, cause: unknown): void {
    if (!this.#inFlight.has(append)) return;
    const fault = faultOf(cause);
    // The error is a reply to this append, so the stream continues.
    if (wasReplied(cause) && !refusals.has(fault.kind)) {
      this.#settle(append, { kind: 'unknown', fault, cause });
      this.#opened();
      return;
    }
    if (refusals.has(fault.kind)) {
      this.#settle(append, { kind: 'answered', fault, cause });
      // A server that refuses access may also have ended the stream.
      if (fault.kind === 'refused') this.#disconnect(cause);
      else this.#opened();
      return;
    }
    // On a new stream, only this append is in flight, so the error belongs to it. On an open stream, the error may
    // belong to another append.
    if (this.#gate === 'first' && wasNeverSent(cause)) {
      this.#settle(append, { kind: 'not-sent', fault, cause });
      this.#refuseWaiting(fault, cause);
    }
    this.#disconnect(cause);
  }

  #opened(): void {
    if (this.#gate !== 'first') return;
    this.#gate = 'open';
    this.#sendNext();
  }

  #settle(append: Append, reply: Reply): void {
    if (!this.#inFlight.delete(append)) return;
    append.timer.cancel();
    append.settle(reply);
  }

  /** Discards the stream. All appends in flight have an unknown outcome; later appends use a new stream. */
  #disconnect(cause: unknown): void {
    if (this.#gate !== 'open' && this.#gate !== 'first') return;
    this.#gate = 'cutting';
    const fault = faultOf(cause);
    for (const append of [...this.#inFlight]) this.#settle(append, { kind: 'unknown', fault, cause });
    void this.#discard().then(() => {
      this.#reopen();
    });
  }

  /**
   * Discards the client, and waits for the end of its stream. Otherwise, a later error of the stream could reject
   * appends on a new stream.
   */
  async #discard(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.cut(this.#clock).catch(() => undefined);
  }

  #reopen(): void {
    this.#gate = 'cold';
    if (this.#waiting.length > 0 && !this.#closed) void this.#connect();
  }

  /** Disconnects after an error of the driver that may have lost replies to appends of this process. */
  lostReply(error: unknown): void {
    this.#disconnect(error);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const cause = new Error('the log was closed');
    this.#refuseWaiting({ kind: 'away', reason: cause.message }, cause);
    const client = this.#client;
    this.#client = undefined;
    this.#gate = 'cutting';
    // An idle stream is not cancelled, because a cancellation would reject appends of other clients.
    if (this.#inFlight.size === 0) await client?.close(this.#clock);
    else await client?.cut(this.#clock);
    for (const append of [...this.#inFlight])
      this.#settle(append, { kind: 'unknown', fault: { kind: 'away', reason: cause.message }, cause });
  }

  /** Resolves when the pending appends have ended, or after the time limit of a close. */
  async drained(pending: ReadonlySet<Promise<unknown>>): Promise<void> {
    const waited = new AbortController();
    await Promise.race([Promise.allSettled(pending), delay(this.#clock, logCloseMs, waited.signal)]);
    waited.abort();
  }
}

const none: Timer = { cancel: () => undefined };

type Shared = { readonly appender: Appender; users: number };

/** The appenders of this process by address. Two appenders for one address could reject each other's appends. */
const shared = new Map<string, Shared>();

function watchStrays(error: unknown): void {
  if (!isStrayAppendReply(error)) return;
  for (const { appender } of shared.values()) appender.lostReply(error);
}

type Taken = { readonly appender: Appender; readonly release: () => Promise<void> };

/** Creates an appender that is not shared with other logs of this process. */
export function soleAppender(connect: () => LogDriver, clock: Clock): Taken {
  const appender = new Appender(connect, clock);
  return { appender, release: () => appender.close() };
}

export function takeAppender(url: EventStoreUrl, clock: Clock): Taken {
  const key = JSON.stringify(url);
  let entry = shared.get(key);
  if (entry === undefined) {
    entry = { appender: new Appender(() => new LogClient(url), clock), users: 0 };
    // The listener only observes the error. The listeners of `uncaughtException` decide whether the process ends.
    if (shared.size === 0) process.on('uncaughtExceptionMonitor', watchStrays);
    shared.set(key, entry);
  }
  entry.users += 1;
  const used = entry;
  const release = async (): Promise<void> => {
    used.users -= 1;
    if (used.users > 0) return;
    shared.delete(key);
    if (shared.size === 0) process.off('uncaughtExceptionMonitor', watchStrays);
    await used.appender.close();
  };
  return { appender: used.appender, release };
}
