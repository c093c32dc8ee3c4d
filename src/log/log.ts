import type { Brand } from '../base/brand.ts';

/**
 * The port of the event log, the only source of truth. It knows bytes, streams and positions; `command/event.ts`
 * defines the events, and `log/event-codec.ts` their encoding.
 *
 * Every adapter passes `test/log/log-contract.ts`:
 * - L1 an append is atomic for its batch, and durable before it resolves;
 * - L2 of two appends with the same expected revision exactly one wins;
 * - L3 positions only grow, and a subscriber from p receives every later record once, in order, also between catch-up
 *   and live;
 * - L4 a record that does not decode stops the reader with an error: it is never skipped.
 */

/** A position in the whole log: >= 1, grows with every event, may have gaps. */
export type LogPosition = Brand<bigint, 'LogPosition'>;
/** A position in one stream: 0 is its first event; no gaps. */
export type StreamRevision = Brand<number, 'StreamRevision'>;
/** `<category>:<rest>`, for example `object:widgets.example.com/w1`. */
export type StreamName = Brand<string, 'StreamName'>;

export function logPosition(value: bigint): LogPosition {
  if (value < 0n) throw new RangeError(`a log position must be >= 0, got ${value.toString()}`);
  return value as LogPosition;
}

export function streamRevision(value: number): StreamRevision {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new RangeError(`a stream revision must be a whole number >= 0, got ${String(value)}`);
  return value as StreamRevision;
}

export function streamName(value: string): StreamName {
  // NUL terminates a name in a log's keys, and a lone surrogate has no UTF-8 encoding. With either, two names could
  // become equal.
  if (!/^[a-z]+:[^\0\p{Cs}]+$/u.test(value))
    throw new RangeError(`a stream's name must be <category>:<rest>, got ${JSON.stringify(value)}`);
  return value as StreamName;
}

/** The position before the first event of any log. */
export const logStart: LogPosition = logPosition(0n);

/** The identity of a log and its epoch. A position of an earlier epoch may mean another event in this one. */
export type LogIdentity = { readonly logId: string; readonly epoch: number };

/**
 * All positions of an epoch are larger than those of the previous one (consistency protocol, 5): no log has this many
 * positions.
 */
const epochStride = 10n ** 19n;

/** The offset of positions in an epoch; 0 in the first. */
export function epochShift(epoch: number): bigint {
  return BigInt(epoch) * epochStride;
}

/** Whether the log may have issued this position in that epoch. `logStart` precedes the first event of every epoch. */
export function isOfEpoch(position: LogPosition, epoch: number): boolean {
  return position === logStart || (position >= epochShift(epoch) && position < epochShift(epoch + 1));
}

/** The stream's last revision, according to the writer. Always required. */
export type ExpectedRevision = StreamRevision | 'absent';

export type ProposedEvent = {
  /** A UUID for one (stream, expected revision, payload); a retry repeats it (consistency protocol, 3). */
  readonly id: string;
  readonly type: string;
  /** JSON in UTF-8. */
  readonly data: Uint8Array;
  /** JSON in UTF-8. */
  readonly metadata: Uint8Array;
};

export type RecordedEvent = ProposedEvent & {
  readonly stream: StreamName;
  readonly revision: StreamRevision;
  readonly position: LogPosition;
  /** True for the last event of an append: readers that take events in batches do not split appends. */
  readonly endsAppend: boolean;
};

export type AppendOutcome =
  /** The append is durable. `revision` and `position` are those of the batch's last event. */
  | { readonly ok: true; readonly revision: StreamRevision; readonly position: LogPosition }
  /** Nothing was appended: the stream's last revision is `actual`. */
  | { readonly ok: false; readonly reason: 'conflict'; readonly actual: ExpectedRevision }
  /** The log is unavailable; nothing was appended. */
  | { readonly ok: false; readonly reason: 'unavailable'; readonly cause: unknown }
  /** The append may or may not have happened: read revision `expected + 1` to find out, or retry with the same ids. */
  | { readonly ok: false; readonly reason: 'unknown'; readonly cause: unknown };

/** Whether the log is available. Followers of an unavailable log keep retrying, so it recovers by itself. */
export type LogState =
  | { readonly reachable: true }
  /** `reason` is for operators, without credentials or a stack. `sinceMs` is monotonic. */
  | { readonly reachable: false; readonly reason: string; readonly sinceMs: number };

/** The streams that a reader wants, by the part of the name before the colon; undefined: all. */
export type CategoryFilter = readonly string[] | undefined;

export type SubscribeOptions = {
  /** Exclusive: the first delivered event is the first one after it. */
  /** For a position that this log never issued, other than `logStart`, the reader may throw `UnknownPositionError`. */
  readonly after: LogPosition;
  readonly categories?: CategoryFilter;
  readonly signal?: AbortSignal;
  /** Awaited between batches by a log that reads in this process; by default one turn of the event loop. */
  readonly turn?: () => Promise<void>;
};

/** A page of a stream's events, forwards. */
export type StreamPage = {
  /** The first revision of the page. */
  readonly from: StreamRevision;
  readonly limit: number;
  /**
   * The page ends with the event whose data and metadata reach this total, so it has at least one event if the stream
   * has one.
   */
  readonly bytesMax?: number;
};

/**
 * A page of a stream's events, backwards. By default, or if `from` is after the last event, it begins with the last
 * event.
 */
export type BackwardStreamPage = Omit<StreamPage, 'from'> & { readonly from?: StreamRevision };

/** A backward read; both bounds are exclusive. */
export type BackwardReadOptions = {
  /**
   * The read begins with the last event before this position; by default with the last durable event. For a position
   * that this log never issued, the reader may throw `UnknownPositionError`.
   */
  readonly before?: LogPosition;
  /** The read ends after the last event behind this position; `logStart` by default. */
  readonly after?: LogPosition;
  readonly categories?: CategoryFilter;
  readonly signal?: AbortSignal;
  /** Like `turn` of `SubscribeOptions`. */
  readonly turn?: () => Promise<void>;
};

/** Each event is valid only during `visit`, and until `visit` reads a table. */
export type ScanOptions = {
  /** Exclusive. */
  readonly after: LogPosition;
  /** Inclusive; not beyond the head. */
  readonly until: LogPosition;
  readonly categories?: CategoryFilter;
  /** Added to the position of each event; 0 by default. */
  readonly shift?: bigint;
  readonly visit: (recorded: RecordedEvent) => void;
  /** Awaited after at most `logReadAheadEventsMax` events; may throw to end the scan. */
  readonly onBatch: () => Promise<void>;
};

export type EventLog = {
  /**
   * Appends all events or none. Resolves once they are durable. An empty batch is a bug and rejects. If the whole batch
   * already exists at `expected + 1`, by its ids, the result is that append's success. A conflict is returned once the
   * event it lost to is durable. A closed log is `unavailable`.
   */
  append(stream: StreamName, events: readonly ProposedEvent[], expected: ExpectedRevision): Promise<AppendOutcome>;
  /** The events of a stream from revision `from` forwards, at most `limit`. Empty for a missing stream. */
  readStream(stream: StreamName, page: StreamPage): Promise<readonly RecordedEvent[]>;
  /**
   * The events of a stream from a revision backwards, newest first. Empty for a missing stream, and before the first
   * event that the stream still has.
   */
  readStreamBackward(stream: StreamName, page: BackwardStreamPage): Promise<readonly RecordedEvent[]>;
  /** The stream's last event, read from the log itself (no cache); undefined for a missing stream. */
  readLast(stream: StreamName): Promise<RecordedEvent | undefined>;
  /**
   * The events after `after` up to and including `until`, in order, in batches. The read never waits: it ends at the
   * head at the time of the call. It throws if the log closes before the end, since an incomplete read must not look
   * complete.
   */
  readAll(options: SubscribeOptions & { readonly until?: LogPosition }): AsyncIterable<readonly RecordedEvent[]>;
  /**
   * Visits events in order without copying them. Absent for a log that is not in this process's files. It throws if the
   * log closes before the end.
   */
  readonly scan?: ((options: ScanOptions) => Promise<void>) | undefined;
  /**
   * The events between two positions from the newest to the oldest, in batches. The read never waits: it begins at the
   * head at its start. A batch has at most `logReadAheadEventsMax` events, ends with the event that reaches
   * `logReadAheadBytesMax`, and may split an append. It throws if the log closes before the end.
   */
  readAllBackward(options: BackwardReadOptions): AsyncIterable<readonly RecordedEvent[]>;
  /**
   * All events after `after`, then each new event when it is durable. A subscriber that keeps up gets the same `data`
   * and `metadata` instances that were appended through this log, so values memoized on them are shared. Batches never
   * split an append and have at most `logReadAheadEventsMax` events (or one append, if that is larger). Ends when
   * `signal` aborts or the log closes; throws `LogCorruptError` on a record that does not decode. Read-ahead is
   * bounded: a slow consumer delays only itself.
   */
  subscribe(options: SubscribeOptions): AsyncIterable<readonly RecordedEvent[]>;
  /** Whether the log is available now, synchronously and without I/O. */
  state(): LogState;
  /**
   * The time of the log's own clock, which all nodes share, in epoch milliseconds; read synchronously and without I/O.
   * Undefined while unknown. Absent for a log without its own clock.
   */
  time?(): number | undefined;
  /** The position of the last durable event, `logStart` when there is none. */
  head(): Promise<LogPosition>;
  /** The event at exactly this position, if one exists: read models verify their checkpoints with it. */
  readAt(position: LogPosition): Promise<RecordedEvent | undefined>;
  /** Completes appends in flight, ends every waiter and reader, and releases files or sockets. */
  close(): Promise<void>;
};

/** A record that does not decode. It is never skipped: the reader stops (L4). */
export class LogCorruptError extends Error {
  constructor(what: string, options?: ErrorOptions) {
    super(`the log is corrupt: ${what}`, options);
    this.name = 'LogCorruptError';
  }
}

/** A record that a later version of this program wrote. Its meaning is unknown, so it must not be skipped either. */
export class NewerEventError extends LogCorruptError {
  constructor(what: string, options?: ErrorOptions) {
    super(what, options);
    this.message = `the log has events of a later version of this program: ${what}`;
    this.name = 'NewerEventError';
  }
}

/** This log has no event at this position: the position is invented, or belongs to another log or epoch. */
export class UnknownPositionError extends Error {
  readonly position: LogPosition;

  constructor(position: LogPosition, options?: ErrorOptions) {
    super(`the log has no position ${position.toString()}`, options);
    this.name = 'UnknownPositionError';
    this.position = position;
  }
}

/** An event read before no longer exists: the log was reset, restored or replaced. Followers must stop. */
export class LogReplacedError extends Error {
  constructor(what: string, options?: ErrorOptions) {
    super(`the log was replaced: ${what}`, options);
    this.name = 'LogReplacedError';
  }
}

/**
 * A write of the log failed, and no more are made: appends in flight have an unknown outcome. Reopening the log is
 * safe.
 */
export class LogFailedError extends Error {
  constructor(options?: ErrorOptions) {
    super('could not write the log: the outcome of appends in flight is unknown', options);
    this.name = 'LogFailedError';
  }
}

/**
 * Whether a read failed because of the log's contents, so that retrying cannot help. Other failures mean that the log
 * is unavailable.
 */
export function isPermanentReadError(error: unknown): boolean {
  return [LogCorruptError, UnknownPositionError, LogReplacedError].some((kind) => error instanceof kind);
}

/** The log refuses all calls of this node (credentials, encryption, rights): only its operator can fix that. */
export class LogRefusedError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'LogRefusedError';
  }
}
