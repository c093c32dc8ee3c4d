import { delay } from '../../base/clock.ts';
import { retryDelayMs } from './eventstore-contact.ts';
import { faultOf } from './eventstore-errors.ts';
import { logHeadScanEventsMax, logHeadScanEventsMin, logLookUpsMax } from './eventstore-limits.ts';
import { rawRecord, storedRecord, streamOf } from './eventstore-record.ts';
import type { DriverRecord, StoredRecord } from './eventstore-record.ts';
import { readBackward, readStreamPage, type StreamSource } from './eventstore-pages.ts';
import { RetriedReads } from './eventstore-retried-reads.ts';
import type { Resolved, RetryContext } from './eventstore-retried-reads.ts';
import type { ServerTime } from './eventstore-time.ts';
import { UnknownPositionError, logPosition, logStart } from '../log.ts';
import type {
  BackwardReadOptions,
  BackwardStreamPage,
  LogPosition,
  RecordedEvent,
  StreamName,
  StreamPage,
} from '../log.ts';

export type ReadContext = RetryContext & {
  /** The prefix of this log's streams in EventStoreDB. */
  readonly prefix: string;
  readonly time: ServerTime;
};

/**
 * The event at a position. `later`: EventStoreDB has no event of this log at the position, but has some event there or
 * later. `end`: EventStoreDB has no event there or later.
 */
export type PositionState = RecordedEvent | 'later' | 'end';

/** The position and stream of this log's last event. An empty log has the position `logStart` and no stream. */
export type LogEnd = {
  readonly position: LogPosition;
  readonly stream?: StreamName | undefined;
};

type ServerPosition = {
  readonly commit: bigint;
  readonly prepare: bigint;
};

/** An event of a backward scan. `ours` is undefined for an event of another log. */
type Passed = {
  readonly place: ServerPosition;
  readonly ours: LogEnd | undefined;
};

const emptyLog: LogEnd = { position: logStart };

type TimedEvent = {
  readonly event: RecordedEvent;
  readonly createdMs: number;
};

/** Reads the events of this log's streams, and the end of the log. */
export class Reads {
  readonly #context: ReadContext;
  readonly #retried: RetriedReads;
  readonly #source: StreamSource;
  /** The latest event of this log that a scan has found. */
  #found: LogEnd = emptyLog;
  /** The commit position in $all up to which earlier scans have read. The next scan ends there. */
  #scanned = -1n;

  constructor(context: ReadContext) {
    this.#context = context;
    this.#retried = new RetriedReads(context);
    this.#source = { prefix: context.prefix, retried: this.#retried };
  }

  stream(stream: StreamName, { from, ...page }: StreamPage): Promise<readonly RecordedEvent[]> {
    return readStreamPage(this.#source, stream, { ...page, from, direction: 'forwards' });
  }

  streamBackward(stream: StreamName, page: BackwardStreamPage): Promise<readonly RecordedEvent[]> {
    return readStreamPage(this.#source, stream, { ...page, direction: 'backwards' });
  }

  /** Reads the events of the log, newest first. */
  backward(options: BackwardReadOptions): AsyncIterable<readonly RecordedEvent[]> {
    return readBackward({ ...this.#source, assertAnswers: () => this.#readBackward('end', 1) }, options);
  }

  async last(stream: StreamName): Promise<RecordedEvent | undefined> {
    return (await this.lastCreated(stream))?.event;
  }

  /**
   * Returns the stream's last event, and the time at which EventStoreDB wrote the event; undefined for a missing
   * stream.
   */
  async lastCreated(stream: StreamName): Promise<TimedEvent | undefined> {
    const records = await this.#retried.read((client) =>
      client.readStream(this.#context.prefix + stream, {
        fromRevision: 'end',
        direction: 'backwards',
        maxCount: 1,
        requiresLeader: true,
      }),
    );
    const [event] = this.#ours(records);
    const createdMs = records[0]?.event?.created.getTime() ?? 0;
    this.#context.time.seen(createdMs);
    return event && { event, createdMs };
  }

  /**
   * Returns the end of this log. Scans $all backwards to an event of this log, or to the position from which the
   * previous scan started. A deposed leader returns old data, so an end before `atLeast` is accepted only after several
   * attempts.
   */
  async end(atLeast: LogPosition = logStart): Promise<LogEnd> {
    const { clock, closing } = this.#context;
    for (let attempt = 1; ; attempt += 1) {
      const end = await this.#end();
      if (end.position >= atLeast || attempt === logLookUpsMax) return end;
      await delay(clock, retryDelayMs(attempt), closing);
    }
  }

  async #end(): Promise<LogEnd> {
    let end: bigint | undefined;
    let from: ServerPosition | 'end' = 'end';
    for (let count = logHeadScanEventsMin; ; count = logHeadScanEventsMax) {
      const page = await this.#readBackward(from, count);
      if (end === undefined) {
        end = page[0]?.place.commit ?? -1n;
        if (end < this.#scanned) this.#forget();
      }
      const found = page.find(({ ours }) => ours !== undefined)?.ours;
      if (found !== undefined) return this.#remember(end, found);
      const oldest = page.at(-1)?.place;
      if (oldest === undefined || page.length < count || oldest.commit <= this.#scanned)
        return this.#remember(end, this.#found);
      from = oldest;
    }
  }

  /** Reads $all backwards. Keeps only positions, because events of other platforms may be large. */
  async #readBackward(fromPosition: ServerPosition | 'end', maxCount: number): Promise<readonly Passed[]> {
    return this.#retried.readEach<Resolved, Passed>(
      (client) => client.readAll({ direction: 'backwards', fromPosition, maxCount, requiresLeader: true }),
      {
        keep: ({ event }) => {
          if (event?.position === undefined) return undefined;
          return { place: event.position, ours: endAt(event.position, streamOf(this.#context.prefix, event)) };
        },
      },
    );
  }

  async revive(): Promise<void> {
    await this.#retried.revive();
  }

  /** Forgets the end after the log became shorter, because the last event may no longer exist. */
  #forget(): void {
    this.#scanned = -1n;
    this.#found = emptyLog;
  }

  #remember(end: bigint, { position, stream }: LogEnd): LogEnd {
    if (end > this.#scanned) this.#scanned = end;
    if (position > this.#found.position) this.#found = { position, stream };
    return this.#found;
  }

  /**
   * Returns the state of a position. A deposed leader returns old data, so `end` is returned only after several
   * attempts.
   *
   * @throws UnknownPositionError if the server cannot read at this position but replies to other reads.
   */
  async at(position: LogPosition): Promise<PositionState> {
    const { clock, closing } = this.#context;
    for (let attempt = 1; ; attempt += 1) {
      const standing = await this.#at(position);
      if (standing !== 'end' || attempt === logLookUpsMax) return standing;
      await delay(clock, retryDelayMs(attempt), closing);
    }
  }

  async #at(position: LogPosition): Promise<PositionState> {
    if (position === logStart) return 'later';
    const record = await this.#from(position);
    if (record === undefined) return 'end';
    const stored = this.#stored(record);
    return stored?.event.position === position ? stored.event : 'later';
  }

  /** Returns whether an event of any log exists at a position. */
  async isHeld(position: LogPosition): Promise<boolean> {
    return (await this.#from(position))?.position?.commit === position - 1n;
  }

  /** Returns the position of the last event of any log before a position; `logStart` without an event. */
  async before(position: LogPosition): Promise<LogPosition> {
    const [record] = await this.#readBackward(serverPosition(position), 1);
    return record === undefined ? logStart : logPosition(record.place.commit + 1n);
  }

  /** Returns the event of any log at the position, or else the next event; undefined at the end of $all. */
  async #from(position: LogPosition): Promise<DriverRecord | undefined> {
    const read = (): Promise<readonly Resolved[]> =>
      this.#retried.read(
        (client) => client.readAll({ fromPosition: serverPosition(position), maxCount: 1, requiresLeader: true }),
        'failures too',
      );
    try {
      return (await read())[0]?.event;
    } catch (error) {
      if (faultOf(error).kind !== 'failed') throw error;
      return (await this.#again(position, read))[0]?.event;
    }
  }

  /**
   * Repeats a failed read. The server reports a position at which no event starts only as an internal error. If two
   * reads at the position fail, and another read in between succeeds, the position is the reason.
   */
  async #again(position: LogPosition, read: () => Promise<readonly Resolved[]>): Promise<readonly Resolved[]> {
    await this.#readBackward('end', 1);
    try {
      return await read();
    } catch (cause) {
      if (faultOf(cause).kind === 'failed') throw new UnknownPositionError(position, { cause });
      throw cause;
    }
  }

  #stored(record: DriverRecord): StoredRecord | undefined {
    const { prefix } = this.#context;
    return streamOf(prefix, record) === undefined ? undefined : storedRecord(prefix, rawRecord(record));
  }

  #ours(answer: readonly Resolved[]): readonly RecordedEvent[] {
    return answer.flatMap(({ event }) => (event === undefined ? undefined : this.#stored(event)?.event) ?? []);
  }
}

function serverPosition(position: LogPosition): ServerPosition {
  return { commit: position - 1n, prepare: position - 1n };
}

function endAt({ commit }: ServerPosition, stream: StreamName | undefined): LogEnd | undefined {
  return stream && { position: logPosition(commit + 1n), stream };
}
