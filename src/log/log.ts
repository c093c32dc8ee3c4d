import type { Brand } from '../base/brand.ts';

/**
 * The port of the event log, the only source of truth. The port consists of bytes, streams and positions.
 *
 * Every adapter passes `test/log/log-contract.ts`:
 * - L1 an append stores all of its events or none, and its events are durable before the append resolves;
 * - L2 of two appends with the same expected revision, exactly one succeeds;
 * - L3 positions only increase; a subscriber receives every later record of its categories once and in order, also at
 *   the change from catch-up to live;
 * - L4 a record that cannot be decoded stops the reader with an error, and is never skipped.
 */

/** The position of an event in the whole log. Later events have larger positions, perhaps with gaps. */
export type LogPosition = Brand<bigint, 'LogPosition'>;
/** The revision of an event in its stream: 0 for the first event, without gaps. */
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
  // NUL terminates a name in the keys of a log, and a lone surrogate has no UTF-8 encoding. Either character could make
  // two names equal.
  if (!/^[a-z]+:[^\0\p{Cs}]+$/u.test(value))
    throw new RangeError(`a stream's name must be <category>:<rest>, got ${JSON.stringify(value)}`);
  return value as StreamName;
}

/** The position before the first event of any log. */
export const logStart: LogPosition = logPosition(0n);

/** The identity of a log, and its epoch. A restored log may assign a position again, in another epoch. */
export type LogIdentity = { readonly logId: string; readonly epoch: number };

/**
 * The difference of positions between consecutive epochs. No log has this many positions, so all positions of an epoch
 * are larger than all positions of the previous epoch (docs/spec/consistency.md, 5).
 */
const epochStride = 10n ** 19n;

/** Returns the offset of positions in an epoch; 0 for the first epoch. */
export function epochShift(epoch: number): bigint {
  return BigInt(epoch) * epochStride;
}

/** Returns whether a position is possible in an epoch. `logStart` precedes the first event of every epoch. */
export function isOfEpoch(position: LogPosition, epoch: number): boolean {
  return position === logStart || (position >= epochShift(epoch) && position < epochShift(epoch + 1));
}

/** The last revision of the stream, as the writer expects it; `absent` for a stream without events. */
export type ExpectedRevision = StreamRevision | 'absent';

/** Returns an expected revision as a comparable number; -1 for `absent`. */
export function ordinal(expected: ExpectedRevision): number {
  return expected === 'absent' ? -1 : expected;
}

export type ProposedEvent = {
  /** A UUID. A retry of an append uses the same ids (docs/spec/consistency.md, 3). */
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
  /** Whether the event is the last event of its append. */
  readonly endsAppend: boolean;
};

export type AppendOutcome =
  /** The append is durable. `revision` and `position` are those of its last event. */
  | { readonly ok: true; readonly revision: StreamRevision; readonly position: LogPosition }
  /** No event was appended, because the stream's last revision is `actual`. */
  | { readonly ok: false; readonly reason: 'conflict'; readonly actual: ExpectedRevision }
  /** No event was appended, because the log is unavailable or closed. */
  | { readonly ok: false; readonly reason: 'unavailable'; readonly cause: unknown }
  /** The events may or may not be stored. A retry with the same ids determines the outcome. */
  | { readonly ok: false; readonly reason: 'unknown'; readonly cause: unknown };

/** Whether the log is available. After an outage, the log reconnects by itself. */
export type LogState =
  | { readonly reachable: true }
  /**
   * `reason` is for operators, without credentials or a stack. `sinceMs` is the monotonic time at which the log became
   * unavailable.
   */
  | { readonly reachable: false; readonly reason: string; readonly sinceMs: number };

/** The categories of streams to read: the parts of stream names before the colon. Undefined means all streams. */
export type CategoryFilter = readonly string[] | undefined;

export type SubscribeOptions = {
  /**
   * The position before the first event (exclusive). The reader may throw `UnknownPositionError` if no event has this
   * position, except for `logStart`.
   */
  readonly after: LogPosition;
  readonly categories?: CategoryFilter;
  readonly signal?: AbortSignal;
  /** Awaited between batches, if the log is in this process. By default, disk reads yield to the event loop. */
  readonly turn?: () => Promise<void>;
};

/** A page of a stream's events, forwards. */
export type StreamPage = {
  /** The first revision of the page. */
  readonly from: StreamRevision;
  readonly limit: number;
  /**
   * The size in bytes at which the page ends. The last event of the page may exceed the size, so the size never makes a
   * page empty.
   */
  readonly bytesMax?: number;
};

/**
 * A page of a stream's events, backwards. The page begins with the last event if `from` is missing or after the last
 * event.
 */
export type BackwardStreamPage = Omit<StreamPage, 'from'> & { readonly from?: StreamRevision };

/** A backward read. Both bounds are exclusive. */
export type BackwardReadOptions = {
  /**
   * The read begins with the last event before this position; by default with the last durable event. The reader may
   * throw `UnknownPositionError` if no event has this position.
   */
  readonly before?: LogPosition;
  /** The read ends with the first event after this position; `logStart` by default. */
  readonly after?: LogPosition;
  readonly categories?: CategoryFilter;
  readonly signal?: AbortSignal;
  /** Awaited between batches. The default waits for one turn of the event loop. */
  readonly turn?: () => Promise<void>;
};

/** The options of a scan. The argument of `visit` is valid only until `visit` returns or reads a table. */
export type ScanOptions = {
  /** The position before the first event (exclusive). */
  readonly after: LogPosition;
  /** The last position to visit (inclusive). The scan ends at the head of the log if `until` is later. */
  readonly until: LogPosition;
  readonly categories?: CategoryFilter;
  /**
   * The position up to which another scan has checked the log's index of streams; `logStart` by default. This scan
   * checks the index for later events.
   */
  readonly indexedUntil?: LogPosition;
  /** The offset that is added to each position; 0 by default. */
  readonly shift?: bigint;
  readonly visit: (recorded: RecordedEvent) => void;
  /** The maximum number of events between two calls of `onBatch`; `logReadAheadEventsMax` by default. */
  readonly batchEvents?: number;
  /** Awaited after each batch of events. May throw to end the scan. */
  readonly onBatch: () => Promise<void>;
};

export type EventLog = {
  /**
   * Appends all events or none, and resolves when the events are durable. Also succeeds if events with the same ids
   * already exist from `expected + 1` on. A conflict is returned after the conflicting event is durable.
   *
   * Rejects with `LogRefusedError`. Also rejects for an append that the log can never accept, for example an empty
   * append.
   */
  append(stream: StreamName, events: readonly ProposedEvent[], expected: ExpectedRevision): Promise<AppendOutcome>;
  /** Returns the events of a stream from revision `from` on, in order; empty without such events. */
  readStream(stream: StreamName, page: StreamPage): Promise<readonly RecordedEvent[]>;
  /** Returns the events of a stream from a revision backwards, newest first; empty without such events. */
  readStreamBackward(stream: StreamName, page: BackwardStreamPage): Promise<readonly RecordedEvent[]>;
  /** Returns the last event of a stream, from the log and not from a cache; undefined for a missing stream. */
  readLast(stream: StreamName): Promise<RecordedEvent | undefined>;
  /**
   * Reads the events after `after` up to and including `until`, in order, in batches. The read ends at the head at the
   * time of the call if `until` is later or missing. If the log closes before the end, the read throws. If `signal`
   * aborts, the read ends without an error.
   */
  readAll(options: SubscribeOptions & { readonly until?: LogPosition }): AsyncIterable<readonly RecordedEvent[]>;
  /**
   * Visits events in order without copying them. Throws if the log closes before the end. Undefined for a log that is
   * not in local files.
   */
  readonly scan?: ((options: ScanOptions) => Promise<void>) | undefined;
  /**
   * Reads the events between two positions, newest first, in batches. A batch has at most `logReadAheadEventsMax`
   * events, ends with the event that reaches `logReadAheadBytesMax`, and may split an append. The read throws if the
   * log closes before the end.
   */
  readAllBackward(options: BackwardReadOptions): AsyncIterable<readonly RecordedEvent[]>;
  /**
   * Reads all events after `after`, and then each new event when the event is durable. A batch never splits an append.
   * A batch has at most `logReadAheadEventsMax` events, or one larger append. A subscriber that keeps up receives the
   * appended instances of `data` and `metadata`, with their cached values.
   *
   * The subscription ends when `signal` aborts or the log closes. The subscription throws an error that a retry cannot
   * resolve, for example `LogCorruptError`. Read-ahead is limited, so that a slow consumer does not delay others.
   */
  subscribe(options: SubscribeOptions): AsyncIterable<readonly RecordedEvent[]>;
  /** Returns whether the log is available now, without I/O. */
  state(): LogState;
  /**
   * Returns the time of the log's own clock in epoch milliseconds, without I/O; undefined while the time is unknown.
   * All nodes share this clock. A log without a clock does not have this method.
   */
  time?(): number | undefined;
  /** Returns the position of the last durable event; `logStart` if the log is empty. */
  head(): Promise<LogPosition>;
  /** Returns the event at exactly this position; undefined without an event. */
  readAt(position: LogPosition): Promise<RecordedEvent | undefined>;
  /** Waits for the appends in flight, ends all reads and subscriptions, and closes files or sockets. */
  close(): Promise<void>;
};

/**
 * A record is missing, damaged or cannot be decoded. A reader stops with this error and does not skip the record (L4).
 */
export class LogCorruptError extends Error {
  constructor(what: string, options?: ErrorOptions) {
    super(`the log is corrupt: ${what}`, options);
    this.name = 'LogCorruptError';
  }
}

/** A later version of this program wrote the record. A reader stops with this error and does not skip the record. */
export class NewerEventError extends LogCorruptError {
  constructor(what: string, options?: ErrorOptions) {
    super(what, options);
    this.message = `the log contains events of a later version of this program: ${what}`;
    this.name = 'NewerEventError';
  }
}

/** The log has no event at this position: the position was never issued, or belongs to another log or epoch. */
export class UnknownPositionError extends Error {
  readonly position: LogPosition;

  constructor(position: LogPosition, options?: ErrorOptions) {
    super(`the log has no position ${position.toString()}`, options);
    this.name = 'UnknownPositionError';
    this.position = position;
  }
}

/** An event that was read before no longer exists, because the log was reset, restored or replaced. */
export class LogReplacedError extends Error {
  constructor(what: string, options?: ErrorOptions) {
    super(`the log was replaced: ${what}`, options);
    this.name = 'LogReplacedError';
  }
}

/**
 * A write to the log failed. The appends in flight have an unknown outcome, and this process makes no further writes.
 */
export class LogFailedError extends Error {
  constructor(options?: ErrorOptions) {
    super('could not write the log: the outcome of appends in flight is unknown', options);
    this.name = 'LogFailedError';
  }
}

/** Returns whether a retry of the read would fail again, because of the log's contents. */
export function isPermanentReadError(error: unknown): boolean {
  return [LogCorruptError, UnknownPositionError, LogReplacedError].some((kind) => error instanceof kind);
}

/**
 * The log refuses all calls of this node, for example because of credentials, encryption or rights. Only an operator
 * can fix the problem.
 */
export class LogRefusedError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'LogRefusedError';
  }
}
