import { readBackward } from './lmdb-backward.ts';
import { LmdbCommits } from './lmdb-commits.ts';
import { PendingAppends } from './lmdb-pending.ts';
import { read } from './lmdb-reader.ts';
import type { ReadPlan, ReadSource } from './lmdb-reader.ts';
import { RecentEvents, type Follower } from './lmdb-recent.ts';
import { assertFits, encodeRecord } from './lmdb-record.ts';
import type { RecordLocation } from './lmdb-record.ts';
import { scan } from './lmdb-scan.ts';
import * as store from './lmdb-store.ts';
import type { LmdbStore } from './lmdb-store.ts';
import { LogFailedError, logPosition, streamRevision } from '../log.ts';
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
  ScanOptions,
  StreamName,
  StreamPage,
  SubscribeOptions,
} from '../log.ts';

export type LmdbLogOptions = {
  /** The folder, created if missing. Only one process may open the folder for writing. */
  readonly dir: string;
  /**
   * Called once, with the reason, after a commit has failed. The state on disk is then unknown. Appends in flight
   * return `unknown`, later appends return `unavailable`, and readers throw.
   */
  readonly onFatal: (error: Error) => void;
  /**
   * Whether the handle only reads. Another handle may then write to the log, but this handle reads the events that were
   * durable when the handle was opened.
   */
  readonly isReadOnly?: boolean;
};

/**
 * Opens the embedded log: an LMDB environment with group commit. An append succeeds after the append is flushed to
 * disk.
 */
export async function openLmdbLog({ dir, onFatal, isReadOnly = false }: LmdbLogOptions): Promise<EventLog> {
  return new LmdbLog(await store.openStore(dir, isReadOnly), onFatal, isReadOnly);
}

class LmdbLog implements EventLog {
  readonly #store: LmdbStore;
  readonly #recent: RecentEvents;
  readonly #source: ReadSource;
  readonly #followers = new Set<Follower>();
  /** The last assigned position. */
  #last: number;
  /** The last durable position. No reader sees a later event. */
  #durable: number;
  readonly #pending = new PendingAppends();
  readonly #commits: LmdbCommits;
  readonly #wakers = new Set<() => void>();
  readonly #isReadOnly: boolean;
  #failure: Error | undefined;
  #closing: Promise<void> | undefined;

  constructor(opened: LmdbStore, onFatal: (error: Error) => void, isReadOnly: boolean) {
    this.#store = opened;
    this.#isReadOnly = isReadOnly;
    this.#commits = new LmdbCommits(opened, {
      settled: (position) => {
        this.#settle(position);
      },
      failed: (reason, why) => {
        this.#fail(reason, why, onFatal);
      },
    });
    this.#last = opened.lastPosition;
    this.#durable = opened.lastPosition;
    this.#recent = new RecentEvents(opened.lastPosition + 1);
    this.#source = {
      durable: () => this.#durable,
      recent: (position) => this.#recent.at(position),
      followers: this.#followers,
      stored: (first, last) => store.readRecords(this.#store, first, last),
      open: () => {
        if (this.#failure !== undefined) throw this.#failure;
        return this.#closing === undefined;
      },
      grown: async (signal) => {
        await this.#grown(signal);
      },
    };
  }

  append(stream: StreamName, events: readonly ProposedEvent[], expected: ExpectedRevision): Promise<AppendOutcome> {
    // An async function would create a second promise for each append.
    try {
      return this.#decide(stream, events, expected);
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error('the append failed', { cause: error }));
    }
  }

  #decide(stream: StreamName, events: readonly ProposedEvent[], expected: ExpectedRevision): Promise<AppendOutcome> {
    if (events.length === 0) throw new RangeError('an append must have at least one event');
    assertFits(stream);
    const unavailable = this.#failure ?? this.#whyReadOnly();
    if (unavailable !== undefined) return Promise.resolve({ ok: false, reason: 'unavailable', cause: unavailable });
    const first = expected === 'absent' ? 0 : expected + 1;
    if (!this.#endsBefore(stream, first)) return this.#refuse(stream, events, first);
    return this.#write(stream, events, first);
  }

  #whyReadOnly(): Error | undefined {
    if (this.#closing !== undefined) return new Error('the log is closed');
    return this.#isReadOnly ? new Error('the log is open for reading only') : undefined;
  }

  /** Returns whether `revision` is the next revision of the stream. Uses only point reads, without a cursor. */
  #endsBefore(stream: StreamName, revision: number): boolean {
    const pending = this.#pending.lastOf(stream);
    if (pending !== undefined) return pending.revision === revision - 1;
    return (
      !store.hasRevision(this.#store, stream, revision) &&
      (revision === 0 || store.hasRevision(this.#store, stream, revision - 1))
    );
  }

  #write(stream: StreamName, events: readonly ProposedEvent[], first: number): Promise<AppendOutcome> {
    const added: RecordedEvent[] = [];
    const records: Buffer[] = [];
    for (const event of events) {
      const index = added.length;
      const place = {
        position: this.#last + 1 + index,
        revision: first + index,
        endsAppend: index === events.length - 1,
      };
      records.push(encodeRecord(stream, event, place));
      added.push(stored(stream, event, place));
    }
    // The code above may throw; the code below does not. The pending entry is added before the puts, because a failed
    // put resolves all pending entries.
    return new Promise((resolve) => {
      const position = this.#last + 1;
      this.#last += added.length;
      this.#pending.add(stream, added, resolve);
      this.#commits.add({ stream, position, revision: first, records });
    });
  }

  /**
   * Makes the events up to `position` visible to readers, resolves their appends and wakes the subscribers. All records
   * up to `position` must be on disk.
   */
  #settle(position: number): void {
    this.#durable = position;
    // Without this reset, a point read could use a snapshot from before this commit.
    this.#store.root.resetReadTxn();
    // Followers that keep up have taken the events of the previous commit by now.
    this.#recent.trim(this.#followers);
    this.#pending.settle(position, this.#recent);
    this.#wake();
  }

  #fail(reason: unknown, why: Promise<unknown>, onFatal: (error: Error) => void): void {
    const failure = new LogFailedError({ cause: reason });
    this.#failure = failure;
    this.#pending.fail(failure);
    this.#wake();
    void why.then((cause) => {
      failure.cause = cause;
      onFatal(failure);
    });
  }

  /** Returns a conflict, or the success of an earlier attempt with the same ids. */
  #refuse(stream: StreamName, events: readonly ProposedEvent[], first: number): Promise<AppendOutcome> {
    const standing = events.map((_, index) => this.#eventAt(stream, first + index));
    const repeated = events.every((event, index) => standing[index]?.id === event.id);
    const last = repeated ? standing.at(-1) : this.#lastEvent(stream);
    const outcome: AppendOutcome =
      repeated && last !== undefined
        ? { ok: true, revision: last.revision, position: last.position }
        : { ok: false, reason: 'conflict', actual: last?.revision ?? 'absent' };
    const position = last === undefined ? 0 : Number(last.position);
    if (position <= this.#durable) return Promise.resolve(outcome);
    // Returns the outcome when the existing events are durable, because a crash could still lose them.
    return this.#pending.answerAfter(stream, position, outcome);
  }

  #eventAt(stream: StreamName, revision: number): RecordedEvent | undefined {
    return this.#pending.eventAt(stream, revision) ?? store.readRevision(this.#store, stream, revision);
  }

  #lastEvent(stream: StreamName): RecordedEvent | undefined {
    return this.#pending.lastOf(stream) ?? store.readLastOfStream(this.#store, stream, this.#durable);
  }

  readStream(stream: StreamName, page: StreamPage): Promise<readonly RecordedEvent[]> {
    return this.#answer(() => store.readRevisions(this.#store, stream, { ...page, until: this.#durable }));
  }

  readStreamBackward(stream: StreamName, page: BackwardStreamPage): Promise<readonly RecordedEvent[]> {
    return this.#answer(() => store.readRevisionsBackward(this.#store, stream, { ...page, until: this.#durable }));
  }

  readLast(stream: StreamName): Promise<RecordedEvent | undefined> {
    return this.#answer(() => store.readLastOfStream(this.#store, stream, this.#durable));
  }

  readAt(position: LogPosition): Promise<RecordedEvent | undefined> {
    return this.#answer(() => {
      if (position < 1n || position > this.#durable) return undefined;
      return store.readRecord(this.#store, Number(position));
    });
  }

  readAll(options: SubscribeOptions & { readonly until?: LogPosition }): AsyncIterable<readonly RecordedEvent[]> {
    const until = Math.min(this.#durable, options.until === undefined ? Infinity : Number(options.until));
    return read(this.#source, { after: Number(options.after), until, ...reading(options) });
  }

  readAllBackward(options: BackwardReadOptions): AsyncIterable<readonly RecordedEvent[]> {
    const storedBackward = (last: number, first: number): Iterable<RecordedEvent> =>
      store.readRecordsBackward(this.#store, last, first);
    return readBackward({ ...this.#source, storedBackward }, options);
  }

  async scan(options: ScanOptions): Promise<void> {
    const last = Math.min(this.#durable, Number(options.until));
    const onBatch = async (): Promise<void> => {
      await options.onBatch();
      if (!this.#source.open()) throw new Error('the log was closed during a scan');
    };
    await scan(this.#store, { first: Number(options.after) + 1, last }, { ...options, onBatch });
  }

  subscribe(options: SubscribeOptions): AsyncIterable<readonly RecordedEvent[]> {
    return read(this.#source, { after: Number(options.after), until: undefined, ...reading(options) });
  }

  /** The embedded log is never temporarily unavailable, because a failed write ends the process. */
  state(): LogState {
    return { reachable: true };
  }

  head(): Promise<LogPosition> {
    return this.#answer(() => logPosition(BigInt(this.#durable)));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#commits.idle();
    this.#wake();
    await this.#store.root.close();
  }

  /** Runs a synchronous read, and returns the result or error as a promise. */
  #answer<T>(readNow: () => T): Promise<T> {
    return new Promise((resolve) => {
      if (this.#closing !== undefined) throw new Error('the log is closed');
      if (this.#failure !== undefined) throw this.#failure;
      resolve(readNow());
    });
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

function stored(stream: StreamName, event: ProposedEvent, place: RecordLocation): RecordedEvent {
  const { id, type, data, metadata } = event;
  const position = logPosition(BigInt(place.position));
  const { revision, endsAppend } = place;
  return { id, type, data, metadata, stream, revision: streamRevision(revision), position, endsAppend };
}

function reading({ categories, signal, turn }: SubscribeOptions): Pick<ReadPlan, 'categories' | 'signal' | 'turn'> {
  return { categories, signal, turn };
}
