import { setMaxListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Clock } from '../base/clock.ts';
import { eventStorePrefixDefault } from '../eventstore-prefix.ts';
import { decodeEventStoreUrl } from '../eventstore-url.ts';
import type { EventStoreUrl } from '../eventstore-url.ts';
import { soleAppender, takeAppender } from './eventstore-appender.ts';
import type { Appender, Reply } from './eventstore-appender.ts';
import { LogClient } from './eventstore-client.ts';
import type { LogDriver } from './eventstore-client.ts';
import { Contact } from './eventstore-contact.ts';
import { follow } from './eventstore-follow.ts';
import type { FollowContext } from './eventstore-follow.ts';
import { Leases } from './eventstore-leases.ts';
import { firstRevision, lookUp } from './eventstore-look-up.ts';
import type { Appended } from './eventstore-look-up.ts';
import { OwnEvents } from './eventstore-own.ts';
import { Reads } from './eventstore-reads.ts';
import type { LogEnd } from './eventstore-reads.ts';
import { driverEvents, driverStream } from './eventstore-record.ts';
import { ServerTime } from './eventstore-time.ts';
import { LogRefusedError, UnknownPositionError, logPosition, streamRevision } from './log.ts';
import type { AppendOutcome, EventLog, ExpectedRevision, LogPosition, LogState, ProposedEvent, RecordedEvent, StreamName, StreamRevision, SubscribeOptions }
  from './log.ts';

export type EventStoreLogOptions = {
  /** `esdb://…` or `esdb+discover://…`, checked by `eventStoreUrlProblem`. */
  readonly url: string;
  readonly clock: Clock;
  /** How the names of its streams begin on the server, by default `ledgerplane-`: other platforms there have others. */
  readonly prefix?: string;
  /** Told of each change. The first state is "has not answered yet", of which nobody is told. */
  readonly onState?: (state: LogState) => void;
  /** A subscription was lost and is asked for again. */
  readonly onResubscribed?: () => void;
  /** Instead of the driver's client; each client it makes is this log's alone. */
  readonly connect?: () => LogDriver;
};

/**
 * EventStoreDB as the event log. Nothing is asked of it before the first call, and every call asks again: so a log that
 * goes away and comes back needs nobody's help.
 *
 * @throws RangeError when the URL is none, without repeating it.
 */
export function openEventStoreLog(options: EventStoreLogOptions): EventLog {
  const decoded = decodeEventStoreUrl(options.url);
  if (!decoded.ok) throw new RangeError(`the URL of the event log ${decoded.problem}`);
  return new EventStoreLog(decoded.url, options);
}

class EventStoreLog implements EventLog {
  readonly #prefix: string;
  readonly #clock: Clock;
  readonly #contact: Contact;
  readonly #own = new OwnEvents();
  readonly #time: ServerTime;
  readonly #reads: Reads;
  readonly #context: FollowContext;
  readonly #appender: Appender;
  readonly #release: () => Promise<void>;
  /** Aborts when the log closes, and `#ending` once what was in flight is answered. */
  readonly #closing = new AbortController();
  readonly #ending = new AbortController();
  /** Made at the first use: it reads the files of certificates. */
  #client: LogDriver | undefined;
  readonly #inFlight = new Set<Promise<AppendOutcome>>();
  /** Answers come in the order of positions: this is the last one that had to be looked up. */
  #lookedUp: Promise<unknown> | undefined;
  readonly #leases: Leases;
  #closed: Promise<void> | undefined;

  constructor(url: EventStoreUrl, { clock, prefix = eventStorePrefixDefault, onState, onResubscribed, connect }: EventStoreLogOptions) {
    this.#prefix = prefix;
    this.#clock = clock;
    this.#time = new ServerTime(clock);
    this.#contact = new Contact(url, clock, (state) => {
      onState?.(state);
      if (!state.reachable) void this.#reads.revive();
    });
    // One listener a read in flight is no leak.
    setMaxListeners(0, this.#closing.signal, this.#ending.signal);
    const shared = { prefix, client: () => this.#client ??= connect?.() ?? new LogClient(url), clock, contact: this.#contact, time: this.#time };
    this.#reads = new Reads({ ...shared, closing: this.#ending.signal });
    this.#context = { ...shared, closing: this.#closing.signal, reads: this.#reads, own: this.#own, onResubscribed: () => onResubscribed?.() };
    const { appender, release } = connect === undefined ? takeAppender(url, clock) : soleAppender(connect, clock);
    this.#appender = appender;
    this.#leases = new Leases({ prefix, appender, clock, reads: this.#reads, time: this.#time });
    this.#release = release;
  }

  append(stream: StreamName, events: readonly ProposedEvent[], expected: ExpectedRevision): Promise<AppendOutcome> {
    if (this.#closing.signal.aborted) return Promise.resolve({ ok: false, reason: 'unavailable', cause: new Error('the log is closed') });
    const away = this.#contact.known();
    // Not in the same turn: who asks again without a pause would keep the answer that mends it from coming in.
    if (away !== undefined) return nextTurn({ ok: false, reason: 'unavailable', cause: away });
    let outcome: Promise<AppendOutcome>;
    try {
      outcome = this.#append({ stream, events, expected, sentMs: this.#clock.monotonic() });
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error('the append failed', { cause: error }));
    }
    this.#inFlight.add(outcome);
    const done = (): void => { this.#inFlight.delete(outcome); };
    outcome.then(done, done);
    return outcome;
  }

  #append(append: Appended): Promise<AppendOutcome> {
    const { stream, events, expected, sentMs } = append;
    if (events.length === 0) throw new RangeError('an append holds at least one event');
    const prepared = driverEvents(events);
    const name = driverStream(this.#prefix, stream);
    this.#own.remember(stream, events, sentMs);
    return this.#appender.append(name, prepared, expected === 'absent' ? 'no_stream' : BigInt(expected))
      .then((reply) => this.#outcome(append, reply));
  }

  #outcome(append: Appended, reply: Reply): AppendOutcome | Promise<AppendOutcome> {
    if (reply.kind !== 'appended') return this.#failure(append, reply);
    this.#contact.worked();
    const { stream, events } = append;
    const revision = firstRevision(append) + events.length - 1;
    if (stream.startsWith('lease:')) this.#leases.renewed(append);
    const { position } = reply;
    // Of several events the servers do not agree whose position they answer.
    const isTold = events.length === 1 && reply.revision === revision && position !== undefined && position.commit === position.prepare;
    const outcome: AppendOutcome | undefined = isTold
      ? { ok: true, revision: streamRevision(revision), position: logPosition(position.commit + 1n) }
      : undefined;
    if (outcome !== undefined && this.#lookedUp === undefined) return outcome;
    return this.#inTurn(outcome ?? this.#lookUp(append, reply));
  }

  #inTurn(outcome: AppendOutcome | Promise<AppendOutcome>): Promise<AppendOutcome> {
    const turn = (this.#lookedUp ?? Promise.resolve()).then(() => outcome);
    const settled = turn.then(() => undefined, () => undefined).then(() => {
      if (this.#lookedUp === settled) this.#lookedUp = undefined;
    });
    this.#lookedUp = settled;
    return turn;
  }

  #failure(append: Appended, reply: Exclude<Reply, { kind: 'appended' }>): Promise<AppendOutcome> {
    const { fault, cause } = reply;
    if (reply.kind === 'answered' && fault.kind === 'wrong-version') return this.#lookUp(append, reply);
    this.#own.forget(append.events);
    if (reply.kind === 'unknown') return this.#unknown(reply);
    if (fault.kind === 'too-large') return Promise.reject(new RangeError('the server accepts less than 1 MiB, its default, in one append', { cause }));
    return this.#unavailable(reply);
  }

  async #unknown({ fault, cause }: Exclude<Reply, { kind: 'appended' }>): Promise<AppendOutcome> {
    const isAway = fault.kind === 'away' && !this.#closing.signal.aborted;
    return { ok: false, reason: 'unknown', cause: isAway ? await this.#contact.failed(fault, cause) : this.#contact.lost(fault, cause) };
  }

  /** @throws LogRefusedError when the server never let this node in. */
  async #unavailable({ fault, cause }: Exclude<Reply, { kind: 'appended' }>): Promise<AppendOutcome> {
    if (this.#closing.signal.aborted) return { ok: false, reason: 'unavailable', cause };
    // A stream that somebody deleted for good says nothing about the log.
    const error = fault.kind === 'tombstone' ? this.#contact.lost(fault, cause) : await this.#contact.failed(fault, cause);
    if (error instanceof LogRefusedError) throw error;
    return { ok: false, reason: 'unavailable', cause: error };
  }

  async #lookUp(append: Appended, reply: Reply): Promise<AppendOutcome> {
    try {
      const outcome = await lookUp({ reads: this.#reads, clock: this.#clock, closing: this.#closing.signal }, append, reply);
      if (!outcome.ok) this.#own.forget(append.events);
      return outcome;
    } catch (cause) {
      this.#own.forget(append.events);
      return { ok: false, reason: 'unknown', cause };
    }
  }

  async readStream(stream: StreamName, { from, limit }: { readonly from: StreamRevision; readonly limit: number }): Promise<readonly RecordedEvent[]> {
    return (await (await this.#answering()).stream(stream, from, limit)).map((event) => this.#own.own(event));
  }

  async readLast(stream: StreamName): Promise<RecordedEvent | undefined> {
    return (await this.#answering()).last(stream);
  }

  async readAt(position: LogPosition): Promise<RecordedEvent | undefined> {
    try {
      const standing = await this.#open().at(position);
      return typeof standing === 'string' ? undefined : standing;
    } catch (error) {
      if (error instanceof UnknownPositionError) return undefined;
      throw error;
    }
  }

  readAll(options: SubscribeOptions & { readonly until?: LogPosition }): AsyncIterable<readonly RecordedEvent[]> {
    const end = this.#end(options.until);
    // It may be iterated later, or never.
    end.catch(() => undefined);
    return this.#readTo(options, end);
  }

  async *#readTo(options: SubscribeOptions & { readonly until?: LogPosition }, asked: Promise<LogEnd>): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
    const { after, signal, categories } = options;
    if (signal?.aborted === true) return;
    const { position: head, stream } = await asked;
    const until = options.until !== undefined && options.until < head ? options.until : head;
    const endsIn = stream === undefined ? {} : { endsIn: stream };
    if (after < until) yield* follow(this.#context, { after, until, ...endsIn, categories, signal });
  }

  subscribe(options: SubscribeOptions): AsyncIterable<readonly RecordedEvent[]> {
    return follow(this.#context, { after: options.after, until: undefined, categories: options.categories, signal: options.signal });
  }

  state(): LogState {
    return this.#contact.state;
  }

  time(): number | undefined {
    return this.#time.now();
  }

  async head(): Promise<LogPosition> {
    return (await this.#end()).position;
  }

  async #end(atLeast?: LogPosition): Promise<LogEnd> {
    return this.#open().end(atLeast);
  }

  async identity(): Promise<string> {
    return Promise.reject(new Error('a log is known by its founding'));
  }

  /** Rejects with LogAwayError, soon, while the server is known not to answer. */
  async #answering(): Promise<Reads> {
    const away = this.#contact.known();
    if (away === undefined) return this.#open();
    await nextTurn();
    throw away;
  }

  /** What is in flight may still read when the log closes, and nobody else. */
  #open(): Reads {
    if (this.#closing.signal.aborted) throw new Error('the log is closed');
    return this.#reads;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    await this.#appender.drained(this.#inFlight);
    this.#ending.abort();
    await this.#release();
    await this.#client?.close(this.#clock);
  }
}
