import { eventSchema, type EventMetadata, type PlatformEvent } from '../command/event.ts';
import { platformEventsReadMax } from '../limits/log.ts';
import { decodeEvent, decodeMetadata, encodeEvent } from './event-codec.ts';
import { epochShift, isOfEpoch, logPosition, logStart, LogCorruptError, LogRefusedError, streamName, streamRevision, UnknownPositionError } from './log.ts';
import type { AppendOutcome, EventLog, ExpectedRevision, LogIdentity, LogPosition, LogState, ProposedEvent, RecordedEvent, StreamName, StreamRevision, SubscribeOptions } from './log.ts';

/** What `platform:log` says of the log. */
export type Founding = LogIdentity & {
  readonly domain: string;
  readonly reason: 'founded' | 'copied' | 'restored';
  /** False while what it is a copy of has not been copied whole. */
  readonly finished: boolean;
  /** What the epoch began as a copy of. */
  readonly copyOf: LogIdentity | undefined;
  /** How many events a finished copy was made with. */
  readonly copied: number | undefined;
  /** Of the last event that says so: the next one expects it. */
  readonly revision: StreamRevision;
};

/** This log is not one to serve from: only its operator can mend that. Nothing was written to it. */
export class UnsuitableLogError extends Error {
  constructor(why: string, options?: ErrorOptions) {
    super(`cannot use this event log: ${why}`, options);
    this.name = 'UnsuitableLogError';
  }
}

/** The stream in which the log speaks of itself. */
export const platformStream: StreamName = streamName('platform:log');

/** What the log says of itself; undefined for one that nobody has founded. */
export async function readFounding(log: Pick<EventLog, 'readStream'>): Promise<Founding | undefined> {
  let founding: Founding | undefined;
  let from = 0;
  for (;;) {
    const page = await log.readStream(platformStream, { from: streamRevision(from), limit: platformEventsReadMax });
    for (const recorded of page) founding = { ...judged(founding, platformEventOf(recorded)), revision: recorded.revision };
    if (page.length < platformEventsReadMax) return founding;
    from += page.length;
  }
}

function judged(before: Founding | undefined, event: PlatformEvent): Omit<Founding, 'revision'> {
  if (event.type === 'EpochStarted') {
    const { logId, epoch, domain, reason, copyOf } = event;
    return { logId, epoch, domain, reason, finished: reason !== 'copied', copyOf, copied: undefined };
  }
  if (before === undefined) throw new LogCorruptError(`${platformStream} begins with a ${event.type}`);
  return { ...before, finished: true, copied: event.events };
}

/** Whatever it does not know here it must not ignore: the log may not be what it takes it for. */
function platformEventOf(recorded: RecordedEvent): PlatformEvent {
  try {
    decodeMetadata(recorded);
    const { event } = decodeEvent(recorded);
    if (event.type === 'EpochStarted' || event.type === 'CopyFinished') return event;
  } catch (cause) {
    throw new UnsuitableLogError(`${cause instanceof Error ? cause.message : String(cause)}; is it of a later version of this program?`, { cause });
  }
  throw new UnsuitableLogError(`${platformStream} holds a ${recorded.type}`);
}

/**
 * The log as the rest of the program gets it: one that was founded, belongs to this platform, and whose positions never mean
 * two things, as those of a later epoch are larger than any of an earlier one. In its first epoch everything passes through
 * as it is.
 */
export class FoundedLog implements EventLog {
  readonly #raw: EventLog;
  /** The log itself, while its positions are told as they are: in its first epoch nothing costs more than a call. */
  #plain: EventLog | undefined;
  #identity: LogIdentity | undefined;
  /** What is added to each position of the log. */
  #shift = 0n;

  constructor(raw: EventLog) {
    this.#raw = raw;
  }

  /**
   * Learns which log this is; one that holds no word of that is founded. Rejects with `UnsuitableLogError` or `LogRefusedError`
   * where only the operator can help, otherwise because the log did not answer: then it is called again.
   */
  async found({ domain, now, uuid }: { readonly domain: string; readonly now: number; readonly uuid: () => string }): Promise<LogIdentity> {
    for (;;) {
      const founding = await readFounding(this.#raw);
      if (founding !== undefined) return this.#adopt(founding, domain);
      const event: PlatformEvent = { type: 'EpochStarted', logId: uuid(), domain, epoch: 0, reason: 'founded' };
      const outcome = await this.#raw.append(platformStream, [encodeEvent(uuid(), event, foundingMetadata(now, uuid()))], 'absent');
      // Of several that found it at once the others read what the first one wrote.
      if (outcome.ok || outcome.reason === 'conflict') continue;
      if (outcome.cause instanceof LogRefusedError) throw outcome.cause;
      throw new Error('the event log could not be founded: it does not answer', { cause: outcome.cause });
    }
  }

  #adopt({ logId, epoch, domain: owner, finished }: Founding, domain: string): LogIdentity {
    if (owner !== domain) throw new UnsuitableLogError(`it belongs to PLATFORM_DOMAIN ${owner}, and this server's is ${domain}`);
    if (!finished) throw new UnsuitableLogError('it is an unfinished copy: run ledgerplane log copy again to resume');
    this.#identity = { logId, epoch };
    this.#shift = epochShift(epoch);
    this.#plain = epoch === 0 ? this.#raw : undefined;
    return this.#identity;
  }

  /** Known once the log is founded. */
  identity(): LogIdentity {
    if (this.#identity === undefined) throw new Error('the event log was not founded yet');
    return this.#identity;
  }

  append(stream: StreamName, events: readonly ProposedEvent[], expected: ExpectedRevision): Promise<AppendOutcome> {
    return this.#plain?.append(stream, events, expected) ?? this.#append(stream, events, expected);
  }

  async #append(stream: StreamName, events: readonly ProposedEvent[], expected: ExpectedRevision): Promise<AppendOutcome> {
    if (this.#identity === undefined) return { ok: false, reason: 'unavailable', cause: new Error('the event log was not founded yet') };
    const outcome = await this.#raw.append(stream, events, expected);
    return outcome.ok ? { ...outcome, position: this.#told(outcome.position) } : outcome;
  }

  readStream(stream: StreamName, options: { readonly from: StreamRevision; readonly limit: number }): Promise<readonly RecordedEvent[]> {
    return this.#plain?.readStream(stream, options) ?? this.#readStream(stream, options);
  }

  async #readStream(stream: StreamName, options: { readonly from: StreamRevision; readonly limit: number }): Promise<readonly RecordedEvent[]> {
    this.identity();
    return (await this.#raw.readStream(stream, options)).map((recorded) => this.#moved(recorded));
  }

  readLast(stream: StreamName): Promise<RecordedEvent | undefined> {
    return this.#plain?.readLast(stream) ?? this.#readLast(stream);
  }

  async #readLast(stream: StreamName): Promise<RecordedEvent | undefined> {
    this.identity();
    const recorded = await this.#raw.readLast(stream);
    return recorded === undefined ? undefined : this.#moved(recorded);
  }

  readAll(options: SubscribeOptions & { readonly until?: LogPosition }): AsyncIterable<readonly RecordedEvent[]> {
    const isPlain = isOfEpoch(options.after, 0) && isOfEpoch(options.until ?? logStart, 0);
    return (isPlain ? this.#plain?.readAll(options) : undefined) ?? this.#readAll(options);
  }

  async *#readAll(options: SubscribeOptions & { readonly until?: LogPosition }): AsyncGenerator<readonly RecordedEvent[]> {
    this.identity();
    const until = options.until === undefined ? {} : { until: this.#asked(options.until) };
    const batches = this.#raw.readAll({ ...options, after: this.#asked(options.after), ...until });
    for await (const batch of batches) yield batch.map((recorded) => this.#moved(recorded));
  }

  subscribe(options: SubscribeOptions): AsyncIterable<readonly RecordedEvent[]> {
    return (isOfEpoch(options.after, 0) ? this.#plain?.subscribe(options) : undefined) ?? this.#subscribe(options);
  }

  async *#subscribe(options: SubscribeOptions): AsyncGenerator<readonly RecordedEvent[]> {
    this.identity();
    const batches = this.#raw.subscribe({ ...options, after: this.#asked(options.after) });
    for await (const batch of batches) yield batch.map((recorded) => this.#moved(recorded));
  }

  state(): LogState {
    return this.#raw.state();
  }

  time(): number | undefined {
    return this.#raw.time?.();
  }

  head(): Promise<LogPosition> {
    return this.#plain?.head() ?? this.#head();
  }

  async #head(): Promise<LogPosition> {
    this.identity();
    return this.#told(await this.#raw.head());
  }

  async readAt(position: LogPosition): Promise<RecordedEvent | undefined> {
    if (!isOfEpoch(position, this.identity().epoch)) return undefined;
    const recorded = await this.#raw.readAt(this.#asked(position));
    return recorded === undefined ? undefined : this.#moved(recorded);
  }

  close(): Promise<void> {
    return this.#raw.close();
  }

  #asked(position: LogPosition): LogPosition {
    if (!isOfEpoch(position, this.identity().epoch)) throw new UnknownPositionError(position);
    return position === logStart ? logStart : logPosition(position - this.#shift);
  }

  #told(position: LogPosition): LogPosition {
    return position === logStart ? logStart : logPosition(position + this.#shift);
  }

  /** Its bytes stay the very instances, as what is known of them hangs on them. */
  #moved({ id, type, data, metadata, stream, revision, position, endsAppend }: RecordedEvent): RecordedEvent {
    return { id, type, data, metadata, stream, revision, position: this.#told(position), endsAppend };
  }
}

function foundingMetadata(now: number, requestId: string): EventMetadata {
  return { actor: 'system:log', verb: 'create', requestId, time: new Date(now).toISOString(), schema: eventSchema, $correlationId: requestId };
}
