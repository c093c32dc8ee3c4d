import { setImmediate as nextTurn } from 'node:timers/promises';

import { logReadAheadEventsMax } from '../../../src/limits/log.ts';
import { logPosition, logStart, streamRevision } from '../../../src/log/log.ts';
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
} from '../../../src/log/log.ts';

type Append = readonly RecordedEvent[];

/** The storage that outlives a closed or abandoned log: a new log on the same disk continues it. */
export type MemoryDisk = { readonly appends: Append[] };

export function memoryDisk(): MemoryDisk {
  return { appends: [] };
}

/**
 * The simplest log in memory that fulfils the contract of the port, without files and checksums. An append is accepted
 * at once. It is durable one turn of the event loop later, together with all other appends of its turn.
 */
export class MemoryLog implements EventLog {
  readonly #disk: MemoryDisk;
  /** Every event of each stream, including pending appends. */
  readonly #streams = new Map<StreamName, RecordedEvent[]>();
  #inFlight: Append[] = [];
  #last: LogPosition;
  #durable: LogPosition;
  /** Resolves when all pending appends are durable. */
  #flush: Promise<void> | undefined;
  readonly #wakers = new Set<() => void>();
  #closed = false;

  constructor(disk: MemoryDisk = memoryDisk()) {
    this.#disk = disk;
    for (const event of disk.appends.flat()) this.#streamOf(event.stream).push(event);
    this.#durable = disk.appends.at(-1)?.at(-1)?.position ?? logStart;
    this.#last = this.#durable;
  }

  async append(
    stream: StreamName,
    events: readonly ProposedEvent[],
    expected: ExpectedRevision,
  ): Promise<AppendOutcome> {
    if (events.length === 0) throw new RangeError('an append must have at least one event');
    if (this.#closed) return { ok: false, reason: 'unavailable', cause: new Error('the log is closed') };
    const outcome = this.#decide(stream, events, expected);
    if (this.#inFlight.length > 0) {
      this.#flush ??= nextTurn().then(() => {
        this.#commit();
      });
      await this.#flush;
    } else {
      await nextTurn();
    }
    return outcome;
  }

  #decide(stream: StreamName, events: readonly ProposedEvent[], expected: ExpectedRevision): AppendOutcome {
    const recorded = this.#streamOf(stream);
    const first = expected === 'absent' ? 0 : expected + 1;
    if (recorded.length === first) {
      const added = events.map(({ id, type, data, metadata }, index): RecordedEvent => {
        const position = logPosition(this.#last + 1n + BigInt(index));
        const endsAppend = index === events.length - 1;
        return { id, type, data, metadata, stream, revision: streamRevision(first + index), position, endsAppend };
      });
      recorded.push(...added);
      this.#inFlight.push(added);
      this.#last = logPosition(this.#last + BigInt(added.length));
    }
    const standing = recorded[first + events.length - 1];
    if (standing !== undefined && events.every(({ id }, index) => recorded[first + index]?.id === id)) {
      return { ok: true, revision: standing.revision, position: standing.position };
    }
    return { ok: false, reason: 'conflict', actual: recorded.at(-1)?.revision ?? 'absent' };
  }

  #commit(): void {
    this.#disk.appends.push(...this.#inFlight);
    this.#inFlight = [];
    this.#flush = undefined;
    this.#durable = this.#last;
    this.#wake();
  }

  #streamOf(stream: StreamName): RecordedEvent[] {
    let recorded = this.#streams.get(stream);
    if (recorded === undefined) this.#streams.set(stream, (recorded = []));
    return recorded;
  }

  async readStream(stream: StreamName, { from, limit, bytesMax }: StreamPage): Promise<readonly RecordedEvent[]> {
    return upToBytes((await this.#durableEvents(stream)).slice(from, from + limit), bytesMax);
  }

  async readStreamBackward(
    stream: StreamName,
    { from = streamRevision(Number.MAX_SAFE_INTEGER), limit, bytesMax }: BackwardStreamPage,
  ): Promise<readonly RecordedEvent[]> {
    const events = (await this.#durableEvents(stream)).filter(({ revision }) => revision <= from);
    return upToBytes(events.toReversed().slice(0, limit), bytesMax);
  }

  /** Yields one event a batch, up to the end of the log at the start of the read. */
  async *readAllBackward({
    before = logPosition(this.#durable + 1n),
    after = logStart,
    categories,
    signal,
  }: BackwardReadOptions): AsyncGenerator<readonly RecordedEvent[]> {
    const end = this.#durable;
    const wanted = this.#disk.appends
      .flat()
      .filter((event) => event.position < before && event.position <= end && isWanted(event, { after, categories }));
    for (const event of wanted.toReversed()) {
      await this.#pass();
      if (signal?.aborted === true) return;
      yield [event];
    }
  }

  async readLast(stream: StreamName): Promise<RecordedEvent | undefined> {
    return (await this.#durableEvents(stream)).at(-1);
  }

  async #durableEvents(stream: StreamName): Promise<RecordedEvent[]> {
    await this.#pass();
    return this.#streams.get(stream)?.filter(({ position }) => position <= this.#durable) ?? [];
  }

  async readAt(position: LogPosition): Promise<RecordedEvent | undefined> {
    await this.#pass();
    return this.#disk.appends.flat().find((event) => event.position === position);
  }

  readAll(options: SubscribeOptions & { readonly until?: LogPosition }): AsyncIterable<readonly RecordedEvent[]> {
    const until = options.until === undefined || options.until > this.#durable ? this.#durable : options.until;
    return this.#read(options, until);
  }

  subscribe(options: SubscribeOptions): AsyncIterable<readonly RecordedEvent[]> {
    return this.#read(options, undefined);
  }

  async *#read(options: SubscribeOptions, until: LogPosition | undefined): AsyncGenerator<readonly RecordedEvent[]> {
    const end = until ?? Infinity;
    const aborted = (): boolean => options.signal?.aborted === true;
    let count = 0;
    for (let last = options.after; last < end && !aborted();) {
      if (this.#closed) {
        if (until === undefined) return;
        throw new Error('the log was closed during a read');
      }
      const appends = this.#nextAppends(count);
      count += appends.length;
      last = appends.at(-1)?.at(-1)?.position ?? last;
      const batch = appends.flat().filter((event) => event.position <= end && isWanted(event, options));
      if (batch.length > 0) yield batch;
      else if (appends.length === 0) await this.#grown(options.signal);
    }
  }

  /** Returns the appends of one batch: as many as its limit allows, or one larger append. */
  #nextAppends(from: number): readonly Append[] {
    let until = from;
    let size = 0;
    for (let append = this.#disk.appends[from]; append !== undefined; append = this.#disk.appends[until]) {
      size += append.length;
      if (until > from && size > logReadAheadEventsMax) break;
      until += 1;
    }
    return this.#disk.appends.slice(from, until);
  }

  state(): LogState {
    return { reachable: true };
  }

  async head(): Promise<LogPosition> {
    await this.#pass();
    return this.#durable;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#flush;
    this.#wake();
  }

  /** Waits one turn of the event loop, since no real log responds in the same turn. */
  async #pass(): Promise<void> {
    if (this.#closed) throw new Error('the log is closed');
    await nextTurn();
  }

  #grown(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#wakers.delete(wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      this.#wakers.add(wake);
      signal?.addEventListener('abort', wake);
    });
  }

  #wake(): void {
    for (const wake of this.#wakers) wake();
  }
}

/** Returns the first events up to and including the one that reaches `bytesMax`. */
function upToBytes(events: readonly RecordedEvent[], bytesMax = Infinity): readonly RecordedEvent[] {
  let bytes = 0;
  const enough = events.findIndex(({ data, metadata }) => (bytes += data.length + metadata.length) >= bytesMax);
  return enough === -1 ? events : events.slice(0, enough + 1);
}

function isWanted(
  event: RecordedEvent,
  { after, categories }: Pick<SubscribeOptions, 'after' | 'categories'>,
): boolean {
  return event.position > after && (categories?.includes(event.stream.slice(0, event.stream.indexOf(':'))) ?? true);
}
