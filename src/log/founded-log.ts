import { messageOf } from '../base/error-message.ts';
import { eventSchema, type EventMetadata, type PlatformEvent } from '../command/event.ts';
import { platformEventsReadMax } from '../limits/log.ts';
import { decodeEvent, decodeMetadata, encodeEvent } from './event-codec.ts';
import {
  epochShift,
  isOfEpoch,
  logPosition,
  logStart,
  LogCorruptError,
  LogRefusedError,
  streamName,
  streamRevision,
  UnknownPositionError,
} from './log.ts';
import type {
  AppendOutcome,
  BackwardReadOptions,
  BackwardStreamPage,
  EventLog,
  ExpectedRevision,
  LogIdentity,
  LogPosition,
  LogState,
  ProposedEvent,
  RecordedEvent,
  StreamName,
  StreamPage,
  StreamRevision,
  SubscribeOptions,
} from './log.ts';
import { shiftedScan } from './shifted-scan.ts';

/** The identity and the state of a log, from the events in the stream `platform:log`. */
export type Founding = LogIdentity & {
  readonly domain: string;
  readonly reason: 'founded' | 'copied' | 'restored';
  /** Whether the copy is finished; true for a log that is not a copy. */
  readonly finished: boolean;
  /** The id of the Merkle tree over the events. A copy has the tree of its source. */
  readonly tree: string;
  /** The log that this epoch copied; undefined for an epoch that is not a copy. */
  readonly copyOf: LogIdentity | undefined;
  /** The number of copied events; undefined before a copy is finished, or without a copy. */
  readonly copied: number | undefined;
  /** The revision of the last event in the stream. The next append must expect this revision. */
  readonly revision: StreamRevision;
};

type FoundBy = { readonly domain: string; readonly now: number; readonly uuid: () => string };

/** Thrown if a log cannot be used until an operator fixes the problem. */
export class UnsuitableLogError extends Error {
  constructor(why: string, options?: ErrorOptions) {
    super(`cannot use this event log: ${why}`, options);
    this.name = 'UnsuitableLogError';
  }
}

/** The stream with the events about the log itself. */
export const platformStream: StreamName = streamName('platform:log');

/** Returns the log's founding; undefined for a log that was never founded. */
export async function readFounding(log: Pick<EventLog, 'readStream'>): Promise<Founding | undefined> {
  let founding: Founding | undefined;
  let from = 0;
  for (;;) {
    const page = await log.readStream(platformStream, { from: streamRevision(from), limit: platformEventsReadMax });
    for (const recorded of page)
      founding = { ...foundingAfter(founding, platformEventOf(recorded), recorded.id), revision: recorded.revision };
    if (page.length < platformEventsReadMax) return founding;
    from += page.length;
  }
}

function foundingAfter(before: Founding | undefined, event: PlatformEvent, id: string): Omit<Founding, 'revision'> {
  if (event.type === 'EpochStarted') {
    const { logId, epoch, domain, reason, copyOf, tree = id } = event;
    return { logId, epoch, domain, reason, tree, finished: reason !== 'copied', copyOf, copied: undefined };
  }
  if (before === undefined) throw new LogCorruptError(`${platformStream} begins with a ${event.type}`);
  return { ...before, finished: true, copied: event.events };
}

/** An unknown event is an error, because the event may change the meaning of the log. */
function platformEventOf(recorded: RecordedEvent): PlatformEvent {
  try {
    decodeMetadata(recorded);
    const { event } = decodeEvent(recorded);
    if (event.type === 'EpochStarted' || event.type === 'CopyFinished') return event;
  } catch (cause) {
    throw new UnsuitableLogError(`${messageOf(cause)}; a later version of this program may have written this event`, {
      cause,
    });
  }
  throw new UnsuitableLogError(`${platformStream} contains an unexpected event of the type ${recorded.type}`);
}

/**
 * The log that the rest of the program uses: a founded log of this platform with unambiguous positions. All positions
 * of an epoch are larger than the positions of earlier epochs.
 */
export class FoundedLog implements EventLog {
  readonly #raw: EventLog;
  /** The underlying log in the first epoch, in which positions are not shifted; undefined in later epochs. */
  #plain: EventLog | undefined;
  #identity: LogIdentity | undefined;
  #tree = '';
  /** The offset that is added to each position of the underlying log. */
  #shift = 0n;
  readonly scan: EventLog['scan'];

  constructor(raw: EventLog) {
    this.#raw = raw;
    this.scan = shiftedScan(raw, { raw: (position) => this.#rawPosition(position), shift: () => this.#shift });
  }

  /**
   * Reads the log's identity. Founds a log without an identity. Rejects with `UnsuitableLogError`, `LogRefusedError` or
   * `LogCorruptError` if only an operator can fix the problem. After other rejections, the caller should retry.
   */
  async found({ domain, now, uuid }: FoundBy): Promise<LogIdentity> {
    for (;;) {
      const founding = await readFounding(this.#raw);
      if (founding !== undefined) return this.#adopt(founding, domain);
      const event: PlatformEvent = { type: 'EpochStarted', logId: uuid(), domain, epoch: 0, reason: 'founded' };
      const outcome = await this.#raw.append(
        platformStream,
        [encodeEvent(uuid(), event, foundingMetadata(now, uuid()))],
        'absent',
      );
      // If several nodes found the log concurrently, one append succeeds, and all nodes read its event.
      if (outcome.ok || outcome.reason === 'conflict') continue;
      if (outcome.cause instanceof LogRefusedError) throw outcome.cause;
      throw new Error('cannot found the event log: the log is unavailable', { cause: outcome.cause });
    }
  }

  #adopt({ logId, epoch, tree, domain: owner, finished }: Founding, domain: string): LogIdentity {
    if (owner !== domain)
      throw new UnsuitableLogError(`the log belongs to PLATFORM_DOMAIN ${owner}, but this server has ${domain}`);
    if (!finished)
      throw new UnsuitableLogError('the log is an unfinished copy: run "ledgerplane log copy" again to resume');
    this.#identity = { logId, epoch };
    this.#tree = tree;
    this.#shift = epochShift(epoch);
    this.#plain = epoch === 0 ? this.#raw : undefined;
    return this.#identity;
  }

  /** @throws Error if the log is not founded yet. */
  identity(): LogIdentity {
    if (this.#identity === undefined) throw new Error('the event log is not founded yet');
    return this.#identity;
  }

  /** Returns the id of the Merkle tree over the events; empty before the log is founded. */
  tree(): string {
    return this.#tree;
  }

  append(stream: StreamName, events: readonly ProposedEvent[], expected: ExpectedRevision): Promise<AppendOutcome> {
    return this.#plain?.append(stream, events, expected) ?? this.#append(stream, events, expected);
  }

  async #append(
    stream: StreamName,
    events: readonly ProposedEvent[],
    expected: ExpectedRevision,
  ): Promise<AppendOutcome> {
    if (this.#identity === undefined)
      return { ok: false, reason: 'unavailable', cause: new Error('the event log is not founded yet') };
    const outcome = await this.#raw.append(stream, events, expected);
    return outcome.ok ? { ...outcome, position: this.#shiftPosition(outcome.position) } : outcome;
  }

  readStream(stream: StreamName, page: StreamPage): Promise<readonly RecordedEvent[]> {
    return this.#plain?.readStream(stream, page) ?? this.#shifted(() => this.#raw.readStream(stream, page));
  }

  readStreamBackward(stream: StreamName, page: BackwardStreamPage): Promise<readonly RecordedEvent[]> {
    return (
      this.#plain?.readStreamBackward(stream, page) ?? this.#shifted(() => this.#raw.readStreamBackward(stream, page))
    );
  }

  async #shifted(read: () => Promise<readonly RecordedEvent[]>): Promise<readonly RecordedEvent[]> {
    this.identity();
    return (await read()).map((recorded) => this.#shiftEvent(recorded));
  }

  readLast(stream: StreamName): Promise<RecordedEvent | undefined> {
    return this.#plain?.readLast(stream) ?? this.#readLast(stream);
  }

  async #readLast(stream: StreamName): Promise<RecordedEvent | undefined> {
    this.identity();
    const recorded = await this.#raw.readLast(stream);
    return recorded === undefined ? undefined : this.#shiftEvent(recorded);
  }

  readAll(options: SubscribeOptions & { readonly until?: LogPosition }): AsyncIterable<readonly RecordedEvent[]> {
    const isPlain = isOfEpoch(options.after, 0) && isOfEpoch(options.until ?? logStart, 0);
    return (isPlain ? this.#plain?.readAll(options) : undefined) ?? this.#readAll(options);
  }

  async *#readAll(
    options: SubscribeOptions & { readonly until?: LogPosition },
  ): AsyncGenerator<readonly RecordedEvent[]> {
    this.identity();
    const until = options.until === undefined ? {} : { until: this.#rawPosition(options.until) };
    const batches = this.#raw.readAll({ ...options, after: this.#rawPosition(options.after), ...until });
    for await (const batch of batches) yield batch.map((recorded) => this.#shiftEvent(recorded));
  }

  readAllBackward(options: BackwardReadOptions): AsyncIterable<readonly RecordedEvent[]> {
    const isPlain = isOfEpoch(options.before ?? logStart, 0) && isOfEpoch(options.after ?? logStart, 0);
    return (isPlain ? this.#plain?.readAllBackward(options) : undefined) ?? this.#readAllBackward(options);
  }

  async *#readAllBackward({
    before,
    after,
    ...options
  }: BackwardReadOptions): AsyncGenerator<readonly RecordedEvent[]> {
    this.identity();
    const batches = this.#raw.readAllBackward({
      ...options,
      ...(before === undefined ? {} : { before: this.#rawPosition(before) }),
      ...(after === undefined ? {} : { after: this.#rawPosition(after) }),
    });
    for await (const batch of batches) yield batch.map((recorded) => this.#shiftEvent(recorded));
  }

  subscribe(options: SubscribeOptions): AsyncIterable<readonly RecordedEvent[]> {
    return (isOfEpoch(options.after, 0) ? this.#plain?.subscribe(options) : undefined) ?? this.#subscribe(options);
  }

  async *#subscribe(options: SubscribeOptions): AsyncGenerator<readonly RecordedEvent[]> {
    this.identity();
    const batches = this.#raw.subscribe({ ...options, after: this.#rawPosition(options.after) });
    for await (const batch of batches) yield batch.map((recorded) => this.#shiftEvent(recorded));
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
    return this.#shiftPosition(await this.#raw.head());
  }

  async readAt(position: LogPosition): Promise<RecordedEvent | undefined> {
    if (!isOfEpoch(position, this.identity().epoch)) return undefined;
    const recorded = await this.#raw.readAt(this.#rawPosition(position));
    return recorded === undefined ? undefined : this.#shiftEvent(recorded);
  }

  close(): Promise<void> {
    return this.#raw.close();
  }

  #rawPosition(position: LogPosition): LogPosition {
    if (!isOfEpoch(position, this.identity().epoch)) throw new UnknownPositionError(position);
    return position === logStart ? logStart : logPosition(position - this.#shift);
  }

  #shiftPosition(position: LogPosition): LogPosition {
    return position === logStart ? logStart : logPosition(position + this.#shift);
  }

  /** Shifts the position. Keeps the instances of the bytes, which have cached values as properties. */
  #shiftEvent({ id, type, data, metadata, stream, revision, position, endsAppend }: RecordedEvent): RecordedEvent {
    return { id, type, data, metadata, stream, revision, position: this.#shiftPosition(position), endsAppend };
  }
}

function foundingMetadata(now: number, requestId: string): EventMetadata {
  return {
    actor: 'system:log',
    verb: 'create',
    requestId,
    time: new Date(now).toISOString(),
    schema: eventSchema,
    $correlationId: requestId,
  };
}
