import { streamNameBytesMax } from '../../limits/log.ts';
import { LmdbCommits } from './lmdb-commits.ts';
import { PendingAppends } from './lmdb-pending.ts';
import { read } from './lmdb-reader.ts';
import type { ReadPlan, ReadSource } from './lmdb-reader.ts';
import { RecentEvents, type Follower } from './lmdb-recent.ts';
import { encodeRecord } from './lmdb-record.ts';
import type { Place } from './lmdb-record.ts';
import * as store from './lmdb-store.ts';
import type { LmdbStore } from './lmdb-store.ts';
import { LogFailedError, logPosition, streamRevision } from '../log.ts';
import type { AppendOutcome, EventLog, ExpectedRevision, LogPosition, LogState, ProposedEvent, RecordedEvent, StreamName, StreamRevision, SubscribeOptions }
  from '../log.ts';

export type LmdbLogOptions = {
  /** Made when it does not exist. One process has it open at a time. */
  readonly dir: string;
  /**
   * A commit failed, so what is on disk is unknown and this process must not go on: called once, with the reason. Appends
   * in flight answer `unknown`, later ones `unavailable`, and readers throw.
   */
  readonly onFatal: (error: Error) => void;
};

/** The embedded log: one LMDB environment, group commit, an append answered after its flush. */
export async function openLmdbLog(options: LmdbLogOptions): Promise<EventLog> {
  return new LmdbLog(await store.openStore(options.dir), options.onFatal);
}

class LmdbLog implements EventLog {
  readonly #store: LmdbStore;
  readonly #recent: RecentEvents;
  readonly #source: ReadSource;
  readonly #followers = new Set<Follower>();
  /** The last position handed out. */
  #last: number;
  /** The last position on disk for good. Nothing after it is shown to anyone. */
  #durable: number;
  readonly #pending = new PendingAppends();
  readonly #commits: LmdbCommits;
  readonly #wakers = new Set<() => void>();
  #failure: Error | undefined;
  #closing: Promise<void> | undefined;

  constructor(opened: LmdbStore, onFatal: (error: Error) => void) {
    this.#store = opened;
    this.#commits = new LmdbCommits(opened, {
      settled: (position) => { this.#settle(position); },
      failed: (reason, why) => { this.#fail(reason, why, onFatal); },
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
      grown: async (signal) => { await this.#grown(signal); },
    };
  }

  append(stream: StreamName, events: readonly ProposedEvent[], expected: ExpectedRevision): Promise<AppendOutcome> {
    // Not an async function: it would cost every append a second promise.
    try {
      return this.#decide(stream, events, expected);
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error('the append failed', { cause: error }));
    }
  }

  #decide(stream: StreamName, events: readonly ProposedEvent[], expected: ExpectedRevision): Promise<AppendOutcome> {
    if (events.length === 0) throw new RangeError('an append holds at least one event');
    assertFits(stream);
    const unavailable = this.#failure ?? (this.#closing === undefined ? undefined : new Error('the log is closed'));
    if (unavailable !== undefined) return Promise.resolve({ ok: false, reason: 'unavailable', cause: unavailable });
    const first = expected === 'absent' ? 0 : expected + 1;
    if (!this.#endsBefore(stream, first)) return this.#refuse(stream, events, first);
    return this.#write(stream, events, first);
  }

  /** Whether `revision` is the one the stream's next event will have. Point reads only: finding the head needs a cursor. */
  #endsBefore(stream: StreamName, revision: number): boolean {
    const pending = this.#pending.lastOf(stream);
    if (pending !== undefined) return pending.revision === revision - 1;
    return !store.hasRevision(this.#store, stream, revision) && (revision === 0 || store.hasRevision(this.#store, stream, revision - 1));
  }

  #write(stream: StreamName, events: readonly ProposedEvent[], first: number): Promise<AppendOutcome> {
    const added: RecordedEvent[] = [];
    const records: Buffer[] = [];
    for (const event of events) {
      const index = added.length;
      const place = { position: this.#last + 1 + index, revision: first + index, endsAppend: index === events.length - 1 };
      records.push(encodeRecord(stream, event, place));
      added.push(stored(stream, event, place));
    }
    // All that may throw has run. Waiting first: a put that fails answers all who wait.
    return new Promise((resolve) => {
      const position = this.#last + 1;
      this.#last += added.length;
      this.#pending.add(stream, added, resolve);
      this.#commits.add({ stream, position, revision: first, records });
    });
  }

  /** Everything through `position` is on disk: one turn makes it visible to readers, answers writers and wakes subscribers. */
  #settle(position: number): void {
    this.#durable = position;
    // Otherwise the next point read may use a snapshot from before this commit, without the appends that were pending.
    this.#store.root.resetReadTxn();
    // What followers were woken for at the last commit, those who keep up have taken by now.
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

  /** The expected revision is not the last one: the answer is a conflict, or the success of an earlier attempt with these ids. */
  #refuse(stream: StreamName, events: readonly ProposedEvent[], first: number): Promise<AppendOutcome> {
    const standing = events.map((_, index) => this.#eventAt(stream, first + index));
    const repeated = events.every((event, index) => standing[index]?.id === event.id);
    const last = repeated ? standing.at(-1) : this.#lastEvent(stream);
    const outcome: AppendOutcome = repeated && last !== undefined
      ? { ok: true, revision: last.revision, position: last.position }
      : { ok: false, reason: 'conflict', actual: last?.revision ?? 'absent' };
    const position = last === undefined ? 0 : Number(last.position);
    if (position <= this.#durable) return Promise.resolve(outcome);
    // What stands there is in flight itself. Were it lost in a crash, this answer would have been a lie.
    return this.#pending.answerAfter(stream, position, outcome);
  }

  #eventAt(stream: StreamName, revision: number): RecordedEvent | undefined {
    return this.#pending.eventAt(stream, revision) ?? store.readRevision(this.#store, stream, revision);
  }

  #lastEvent(stream: StreamName): RecordedEvent | undefined {
    return this.#pending.lastOf(stream) ?? store.readLastOfStream(this.#store, stream, this.#durable);
  }

  readStream(stream: StreamName, options: { readonly from: StreamRevision; readonly limit: number }): Promise<readonly RecordedEvent[]> {
    return this.#answer(() => store.readRevisions(this.#store, stream, { ...options, until: this.#durable }));
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

  subscribe(options: SubscribeOptions): AsyncIterable<readonly RecordedEvent[]> {
    return read(this.#source, { after: Number(options.after), until: undefined, ...reading(options) });
  }

  /** A file that cannot be written ends the process, so there is no log that only waits. */
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

  /** Reads are synchronous; a promise carries what they throw. */
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

function stored(stream: StreamName, event: ProposedEvent, place: Place): RecordedEvent {
  const { id, type, data, metadata } = event;
  const position = logPosition(BigInt(place.position));
  const { revision, endsAppend } = place;
  return { id, type, data, metadata, stream, revision: streamRevision(revision), position, endsAppend };
}

/** LMDB refuses a longer key too, but only once the other table has taken its half of the append. */
function assertFits(stream: StreamName): void {
  // No character takes more than three bytes a UTF-16 unit: most names need no counting.
  if (stream.length * 3 <= streamNameBytesMax) return;
  const bytes = Buffer.byteLength(stream);
  if (bytes > streamNameBytesMax) throw new RangeError(`a stream's name holds at most ${streamNameBytesMax.toString()} bytes, got ${bytes.toString()}`);
}

function reading({ categories, signal, turn }: SubscribeOptions): Pick<ReadPlan, 'categories' | 'signal' | 'turn'> {
  return { categories, signal, turn };
}
