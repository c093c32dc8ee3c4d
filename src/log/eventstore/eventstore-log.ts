import { setImmediate as nextTurn } from 'node:timers/promises';

import type { Clock } from '../../base/clock.ts';
import { serviceController } from '../../base/service-controller.ts';
import { eventStorePrefixDefault } from '../../config/eventstore-prefix.ts';
import { decodeEventStoreUrl } from '../../config/eventstore-url.ts';
import type { EventStoreUrl } from '../../config/eventstore-url.ts';
import { soleAppender, takeAppender } from './eventstore-appender.ts';
import { Appends } from './eventstore-appends.ts';
import { LogClient } from './eventstore-client.ts';
import type { LogDriver } from './eventstore-client.ts';
import { Contact } from './eventstore-contact.ts';
import { follow } from './eventstore-follow.ts';
import type { FollowContext } from './eventstore-follow.ts';
import { Leases } from './eventstore-leases.ts';
import { OwnEvents } from './eventstore-own.ts';
import { Reads } from './eventstore-reads.ts';
import type { LogEnd } from './eventstore-reads.ts';
import { ServerTime } from './eventstore-time.ts';
import { UnknownPositionError } from '../log.ts';
import type {
  AppendOutcome,
  BackwardReadOptions,
  BackwardStreamPage,
  EventLog,
  ExpectedRevision,
  LogPosition,
  LogState,
  ProposedEvent,
  RecordedEvent,
  StreamName,
  StreamPage,
  SubscribeOptions,
} from '../log.ts';

export type EventStoreLogOptions = {
  /** The URL of EventStoreDB: `esdb://…` or `esdb+discover://…`. */
  readonly url: string;
  readonly clock: Clock;
  /** The prefix of stream names in EventStoreDB, `ledgerplane-` by default. Each platform must have its own prefix. */
  readonly prefix?: string;
  /** Called when the availability changes, but not for the initial state. */
  readonly onState?: (state: LogState) => void;
  /** Called when a new subscription of the driver continues a subscription that has ended. */
  readonly onResubscribed?: () => void;
  /** Creates a replacement for the driver's client, which must have no other user. */
  readonly connect?: () => LogDriver;
};

/**
 * Opens an event log in EventStoreDB. The log connects at the first call, and reconnects by itself after an outage.
 *
 * @throws RangeError for an invalid URL. The message does not contain the URL.
 */
export function openEventStoreLog(options: EventStoreLogOptions): EventLog {
  const decoded = decodeEventStoreUrl(options.url);
  if (!decoded.ok) throw new RangeError(`the URL of the event log ${decoded.problem}`);
  return new EventStoreLog(decoded.url, options);
}

class EventStoreLog implements EventLog {
  readonly #clock: Clock;
  readonly #contact: Contact;
  readonly #own = new OwnEvents();
  readonly #time: ServerTime;
  readonly #reads: Reads;
  readonly #context: FollowContext;
  readonly #appends: Appends;
  readonly #release: () => Promise<void>;
  readonly #closing = serviceController();
  /** Aborts during a close, after the appends in flight have ended or the time limit has expired. */
  readonly #ending = serviceController();
  /** Created at the first call, because the creation reads certificate files. */
  #client: LogDriver | undefined;
  #closed: Promise<void> | undefined;

  constructor(
    url: EventStoreUrl,
    { clock, prefix = eventStorePrefixDefault, onState, onResubscribed, connect }: EventStoreLogOptions,
  ) {
    this.#clock = clock;
    this.#time = new ServerTime(clock);
    this.#contact = new Contact(url, clock, (state) => {
      onState?.(state);
      if (!state.reachable) void this.#reads.revive();
    });
    const shared = {
      prefix,
      client: () => (this.#client ??= connect?.() ?? new LogClient(url)),
      clock,
      contact: this.#contact,
      time: this.#time,
    };
    this.#reads = new Reads({ ...shared, closing: this.#ending.signal });
    this.#context = {
      ...shared,
      closing: this.#closing.signal,
      reads: this.#reads,
      own: this.#own,
      onResubscribed: () => onResubscribed?.(),
    };
    const { appender, release } = connect === undefined ? takeAppender(url, clock) : soleAppender(connect, clock);
    const leases = new Leases({ prefix, appender, clock, reads: this.#reads, time: this.#time });
    this.#appends = new Appends({
      ...shared,
      appender,
      leases,
      reads: this.#reads,
      own: this.#own,
      closing: this.#closing.signal,
    });
    this.#release = release;
  }

  append(stream: StreamName, events: readonly ProposedEvent[], expected: ExpectedRevision): Promise<AppendOutcome> {
    return this.#appends.append(stream, events, expected);
  }

  async readStream(stream: StreamName, page: StreamPage): Promise<readonly RecordedEvent[]> {
    return (await (await this.#answering()).stream(stream, page)).map((event) => this.#own.own(event));
  }

  async readStreamBackward(stream: StreamName, page: BackwardStreamPage): Promise<readonly RecordedEvent[]> {
    return (await (await this.#answering()).streamBackward(stream, page)).map((event) => this.#own.own(event));
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
    // The iteration may start later or never, so a rejection needs a handler now.
    end.catch(() => undefined);
    return this.#readTo(options, end);
  }

  async *#readTo(
    options: SubscribeOptions & { readonly until?: LogPosition },
    read: Promise<LogEnd>,
  ): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
    const { after, signal, categories } = options;
    if (signal?.aborted === true) return;
    const { position: head, stream } = await read;
    const until = options.until !== undefined && options.until < head ? options.until : head;
    const endsIn = stream === undefined ? {} : { endsIn: stream };
    if (after < until) yield* follow(this.#context, { after, until, ...endsIn, categories, signal });
  }

  async *readAllBackward(options: BackwardReadOptions): AsyncGenerator<readonly RecordedEvent[], void, undefined> {
    for await (const batch of this.#open().backward(options)) yield batch.map((event) => this.#own.own(event));
  }

  subscribe(options: SubscribeOptions): AsyncIterable<readonly RecordedEvent[]> {
    return follow(this.#context, {
      after: options.after,
      until: undefined,
      categories: options.categories,
      signal: options.signal,
    });
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
    return Promise.reject(new Error('only a founded log has an identity'));
  }

  /**
   * Returns the reads. Rejects with `LogUnavailableError` in a later turn if EventStoreDB is known to be unavailable.
   */
  async #answering(): Promise<Reads> {
    const unavailable = this.#contact.known();
    if (unavailable === undefined) return this.#open();
    await nextTurn();
    throw unavailable;
  }

  /** Returns the reads. Throws after a close has begun. */
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
    await this.#appends.drained();
    this.#ending.abort();
    await this.#release();
    await this.#client?.close(this.#clock);
  }
}
