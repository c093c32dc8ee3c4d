import type { Brand } from '../base/brand.ts';

/**
 * The port of the event log, the only source of truth. It knows bytes, streams and positions; what an event means is
 * known to `command/event.ts`, and how it is written to `log/event-codec.ts`.
 *
 * Every adapter passes `test/log/log-contract.ts`:
 * L1 an append is atomic for its batch, and durable before it answers;
 * L2 of two appends at one expected revision exactly one wins;
 * L3 positions only grow, and a subscriber from p sees every later record once, in order, across the seam between
 *    catch-up and live;
 * L4 a record that does not decode stops the reader loudly: it is never skipped.
 */

/** Place in the whole log: >= 1, grows with every event, not necessarily without holes. */
export type LogPosition = Brand<bigint, 'LogPosition'>;
/** Place in one stream: 0 is its first event, without holes. */
export type StreamRevision = Brand<number, 'StreamRevision'>;
/** `<category>:<rest>`, for example `object:widgets.example.com/w1`. */
export type StreamName = Brand<string, 'StreamName'>;

export function logPosition(value: bigint): LogPosition {
  if (value < 0n) throw new RangeError(`a log position must be >= 0, got ${value.toString()}`);
  return value as LogPosition;
}

export function streamRevision(value: number): StreamRevision {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`a stream revision must be a whole number >= 0, got ${String(value)}`);
  return value as StreamRevision;
}

export function streamName(value: string): StreamName {
  // NUL ends a name in a log's keys, and half a surrogate pair has no UTF-8 of its own: two names would become one.
  if (!/^[a-z]+:[^\0\p{Cs}]+$/u.test(value)) throw new RangeError(`a stream's name must be <category>:<rest>, got ${JSON.stringify(value)}`);
  return value as StreamName;
}

/** Before the first event of any log. */
export const logStart: LogPosition = logPosition(0n);

/** Which log this is, and which telling of it: what was told in an earlier epoch may mean something else in this one. */
export type LogIdentity = { readonly logId: string; readonly epoch: number };

/** Positions of one epoch come after all of the one before (consistency protocol, 5): none of a log reaches this far. */
const epochStride = 10n ** 19n;

/** What is added to a log's own positions in an epoch; nothing in the first. */
export function epochShift(epoch: number): bigint {
  return BigInt(epoch) * epochStride;
}

/** Whether the log may have given this position in that epoch. `logStart` is before every epoch's first event. */
export function isOfEpoch(position: LogPosition, epoch: number): boolean {
  return position === logStart || (position >= epochShift(epoch) && position < epochShift(epoch + 1));
}

/** What the writer believes is the stream's last revision. Never omitted. */
export type ExpectedRevision = StreamRevision | 'absent';

export type ProposedEvent = {
  /** A UUID that belongs to one (stream, expected revision, payload); a retry repeats it (consistency protocol, 3). */
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
  /** It is the last one of its append: whoever takes events in portions takes no part of an append. */
  readonly endsAppend: boolean;
};

export type AppendOutcome =
  /** Durable. `revision` and `position` are those of the batch's last event. */
  | { readonly ok: true; readonly revision: StreamRevision; readonly position: LogPosition }
  /** Nothing was appended: the stream's last revision is `actual`. */
  | { readonly ok: false; readonly reason: 'conflict'; readonly actual: ExpectedRevision }
  /** The log cannot be reached; nothing was appended. */
  | { readonly ok: false; readonly reason: 'unavailable'; readonly cause: unknown }
  /** It may or may not have been appended: settle it by reading revision `expected + 1`, or retry with the same ids. */
  | { readonly ok: false; readonly reason: 'unknown'; readonly cause: unknown };

/** Whether the log answers. A log that does not is asked again and again by whoever follows it, so it heals by itself. */
export type LogState =
  | { readonly reachable: true }
  /** `reason` is for operators: never a credential, never a stack. `sinceMs` is on the monotonic clock. */
  | { readonly reachable: false; readonly reason: string; readonly sinceMs: number };

/** Which streams a reader wants, by the part of the name before the colon; undefined is all of them. */
export type CategoryFilter = readonly string[] | undefined;

export type SubscribeOptions = {
  /** Exclusive: the first event delivered is the first one after it. */
  /** Where it is neither `logStart` nor a position this log gave, the reader may throw `UnknownPositionError`. */
  readonly after: LogPosition;
  readonly categories?: CategoryFilter;
  readonly signal?: AbortSignal;
  /** Awaited between two batches by a log whose reading takes this process' time; without it a turn of the event loop. */
  readonly turn?: () => Promise<void>;
};

export type EventLog = {
  /**
   * Appends all events or none. Resolves once they are durable. An empty batch is a bug and rejects.
   * When the whole batch already stands at `expected + 1`, by its ids, the answer is that append's success. A conflict is
   * answered once the event it lost to is durable. A closed log is `unavailable`.
   */
  append(stream: StreamName, events: readonly ProposedEvent[], expected: ExpectedRevision): Promise<AppendOutcome>;
  /** The events of one stream from revision `from` (inclusive) forward, at most `limit`. A missing stream is empty. */
  readStream(stream: StreamName, options: { readonly from: StreamRevision; readonly limit: number }): Promise<readonly RecordedEvent[]>;
  /** The stream's last event, as the log itself has it now (not a cached view); undefined for a missing stream. */
  readLast(stream: StreamName): Promise<RecordedEvent | undefined>;
  /**
   * Events after `after` up to and including `until`, in order, in batches; then it ends. It never waits: the head when
   * `readAll` was called bounds it. When the log closes before the end it throws, as half a read must not look whole.
   */
  readAll(options: SubscribeOptions & { readonly until?: LogPosition }): AsyncIterable<readonly RecordedEvent[]>;
  /**
   * All events after `after`, then each new one as it becomes durable. A subscriber that keeps up gets the very `data` and
   * `metadata` instances that were appended through this log, so what is memoized by them is shared. Batches never split one append and hold at most
   * `logReadAheadEventsMax` events (or one append, if that is larger). Ends when `signal` aborts or the log closes; throws
   * `LogCorruptError` on a record that does not decode. Read-ahead is bounded: a slow consumer holds back only itself.
   */
  subscribe(options: SubscribeOptions): AsyncIterable<readonly RecordedEvent[]>;
  /** Whether the log answers now; at once, and without asking it. */
  state(): LogState;
  /**
   * What the log's own clock says, which is the same for all its nodes, in epoch milliseconds; at once, and without asking
   * it. Undefined while it is not known. A log without a clock of its own has no such method.
   */
  time?(): number | undefined;
  /** The position of the last durable event, `logStart` when there is none. */
  head(): Promise<LogPosition>;
  /** The event at exactly this position, if there is one: read models verify their checkpoint with it. */
  readAt(position: LogPosition): Promise<RecordedEvent | undefined>;
  /** Finishes what is in flight, settles every waiter and reader, and releases the files or sockets. */
  close(): Promise<void>;
};

/** A record that does not decode. Never skipped: whoever reads stops (L4). */
export class LogCorruptError extends Error {
  constructor(what: string, options?: ErrorOptions) {
    super(`the log is corrupt: ${what}`, options);
    this.name = 'LogCorruptError';
  }
}

/** Written by a later version of this program: what it means is not known here, so it must not be passed over either. */
export class NewerEventError extends LogCorruptError {
  constructor(what: string, options?: ErrorOptions) {
    super(what, options);
    this.message = `the log holds what a later version of this program wrote: ${what}`;
    this.name = 'NewerEventError';
  }
}

/** No event of this log was ever at this position: it was made up, or given by another log or another epoch of this one. */
export class UnknownPositionError extends Error {
  readonly position: LogPosition;

  constructor(position: LogPosition, options?: ErrorOptions) {
    super(`the log has no position ${position.toString()}`, options);
    this.name = 'UnknownPositionError';
    this.position = position;
  }
}

/** What was read before stands there no longer: the log was reset, restored or exchanged. Whoever follows it must stop. */
export class LogReplacedError extends Error {
  constructor(what: string, options?: ErrorOptions) {
    super(`the log was replaced: ${what}`, options);
    this.name = 'LogReplacedError';
  }
}

/** The log could not write, and writes no more: what was in flight may or may not stand. Opened again it is as good as its disk. */
export class LogFailedError extends Error {
  constructor(options?: ErrorOptions) {
    super('could not write the log: the outcome of appends in flight is unknown', options);
    this.name = 'LogFailedError';
  }
}

/** Whether a read failed because of what the log holds: asked again it would say the same. Else it did not answer. */
export function isSaidByLog(error: unknown): boolean {
  return [LogCorruptError, UnknownPositionError, LogReplacedError].some((kind) => error instanceof kind);
}

/** The log refuses this node whatever it asks (credentials, encryption, rights): only its operator can mend that. */
export class LogRefusedError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'LogRefusedError';
  }
}
