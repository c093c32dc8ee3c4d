import type { AllStreamResolvedEvent, ResolvedEvent, StreamingRead } from '@eventstore/db-client';

import { delay } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import type { LogDriver } from './eventstore-client.ts';
import { askAgainMs } from './eventstore-contact.ts';
import type { Contact } from './eventstore-contact.ts';
import { faultOf } from './eventstore-errors.ts';
import { logHeadScanEventsMax, logHeadScanEventsMin, logLookUpsMax, logReadAttemptsMax, logReplyMs } from './eventstore-limits.ts';
import { rawRecord, storedRecord, streamOf } from './eventstore-record.ts';
import type { DriverRecord, StoredRecord } from './eventstore-record.ts';
import type { ServerTime } from './eventstore-time.ts';
import { LogCorruptError, UnknownPositionError, logPosition, logStart } from './log.ts';
import type { LogPosition, RecordedEvent, StreamName, StreamRevision } from './log.ts';

type Resolved = Pick<ResolvedEvent | AllStreamResolvedEvent, 'event'>;

export type ReadContext = {
  /** Of the names of this log's streams on the server. */
  readonly prefix: string;
  readonly client: () => LogDriver;
  readonly clock: Clock;
  readonly contact: Contact;
  readonly time: ServerTime;
  readonly closing: AbortSignal;
};

/** What stands at a position. `later`: nothing any more, but the log goes on behind it. */
export type Standing = RecordedEvent | 'later' | 'end';

/** Our last event's position and stream. */
export type LogEnd = { readonly position: LogPosition; readonly stream?: StreamName | undefined };

type Place = { readonly commit: bigint; readonly prepare: bigint };

/** An event that was passed by, and what it says where it is ours. */
type Passed = { readonly place: Place; readonly ours: LogEnd | undefined };

type Asking<Event, Kept> = {
  /** What is kept of an event, perhaps nothing. It does not throw. */
  readonly keep: (event: Event) => Kept | undefined;
  readonly failures?: 'failures too' | undefined;
};

const emptyLog: LogEnd = { position: logStart };

/** Answers that end: each is one call of the driver, within a time limit, asked again a few times while the server is away. */
export class Reads {
  readonly #context: ReadContext;
  /** The last event of ours that was found, and how far back nothing after it needs to be looked at again. */
  #found: LogEnd = emptyLog;
  #scanned = -1n;

  constructor(context: ReadContext) {
    this.#context = context;
  }

  async stream(stream: StreamName, from: StreamRevision, limit: number): Promise<readonly RecordedEvent[]> {
    if (limit <= 0) return [];
    const records = await this.#ask((client) => (
      client.readStream(this.#context.prefix + stream, { fromRevision: BigInt(from), maxCount: limit, requiresLeader: true })));
    const events = this.#ours(records);
    // The server itself takes old events off a lease's stream, and off no other.
    if (stream.startsWith('lease:')) return events;
    for (const [index, { revision }] of events.entries()) {
      if (revision !== from + index) throw new LogCorruptError(`revision ${(from + index).toString()} of ${stream} is missing`);
    }
    return events;
  }

  async last(stream: StreamName): Promise<RecordedEvent | undefined> {
    return (await this.lastCreated(stream))?.event;
  }

  /** With its time by the server's clock. */
  async lastCreated(stream: StreamName): Promise<{ readonly event: RecordedEvent; readonly createdMs: number } | undefined> {
    const records = await this.#ask((client) => (
      client.readStream(this.#context.prefix + stream, { fromRevision: 'end', direction: 'backwards', maxCount: 1, requiresLeader: true })));
    const [event] = this.#ours(records);
    const createdMs = records[0]?.event?.created.getTime() ?? 0;
    this.#context.time.seen(createdMs);
    return event && { event, createdMs };
  }

  /**
   * Where our last event stands. The server can filter a subscription but not a read, so $all is read backward to the
   * first one of ours, or to where the last search began: others' events in between are looked at once. A server that
   * leads no more answers as it was before: an end before `atLeast` is the answer once it has been one for a while.
   */
  async end(atLeast: LogPosition = logStart): Promise<LogEnd> {
    const { clock, closing } = this.#context;
    for (let attempt = 1; ; attempt += 1) {
      const end = await this.#end();
      if (end.position >= atLeast || attempt === logLookUpsMax) return end;
      await delay(clock, askAgainMs(attempt), closing);
    }
  }

  async #end(): Promise<LogEnd> {
    let end: bigint | undefined;
    let from: Place | 'end' = 'end';
    for (let count = logHeadScanEventsMin; ; count = logHeadScanEventsMax) {
      const page = await this.#readBackward(from, count);
      if (end === undefined) {
        end = page[0]?.place.commit ?? -1n;
        if (end < this.#scanned) this.#forget();
      }
      const found = page.find(({ ours }) => ours !== undefined)?.ours;
      if (found !== undefined) return this.#remember(end, found);
      const oldest = page.at(-1)?.place;
      if (oldest === undefined || page.length < count || oldest.commit <= this.#scanned) return this.#remember(end, this.#found);
      from = oldest;
    }
  }

  /** Of other platforms' events, which may be large and many, nothing is kept. */
  async #readBackward(fromPosition: Place | 'end', maxCount: number): Promise<readonly Passed[]> {
    return this.#askEach((client) => client.readAll({ direction: 'backwards', fromPosition, maxCount, requiresLeader: true }), {
      keep: ({ event }) => (event?.position === undefined ? undefined : { place: event.position, ours: endAt(event.position, streamOf(this.#context.prefix, event)) }),
    });
  }

  /** The log is shorter than it was: what was found may stand there no more. */
  #forget(): void {
    this.#scanned = -1n;
    this.#found = emptyLog;
  }

  #remember(end: bigint, { position, stream }: LogEnd): LogEnd {
    if (end > this.#scanned) this.#scanned = end;
    if (position > this.#found.position) this.#found = { position, stream };
    return this.#found;
  }

  /** Asks whatever is quickest to answer until the server does: so what is said of it is true though nobody else asks. */
  async revive(): Promise<void> {
    const { clock, contact, closing } = this.#context;
    for (let attempt = 1; !contact.state.reachable && !closing.aborted; attempt += 1) {
      await delay(clock, askAgainMs(attempt), closing);
      await this.#once((client) => client.readAll({ direction: 'backwards', maxCount: 1 }), () => undefined).then(() => { contact.worked(); }, () => undefined);
    }
  }

  /**
   * A server that leads no more answers as it was before: that the log ends before the position is the answer once it has
   * said so for a while.
   *
   * @throws UnknownPositionError when the server says that no event begins there.
   */
  async at(position: LogPosition): Promise<Standing> {
    const { clock, closing } = this.#context;
    for (let attempt = 1; ; attempt += 1) {
      const standing = await this.#at(position);
      if (standing !== 'end' || attempt === logLookUpsMax) return standing;
      await delay(clock, askAgainMs(attempt), closing);
    }
  }

  async #at(position: LogPosition): Promise<Standing> {
    if (position === logStart) return 'later';
    const record = await this.#from(position);
    if (record === undefined) return 'end';
    const stored = this.#stored(record);
    return stored?.event.position === position ? stored.event : 'later';
  }

  /** Whether an event stands at a position, whose ever it is. */
  async isHeld(position: LogPosition): Promise<boolean> {
    return (await this.#from(position))?.position?.commit === position - 1n;
  }

  /** Where the last event before a position stands, whose ever it is; `logStart` where there is none. */
  async before(position: LogPosition): Promise<LogPosition> {
    const [record] = await this.#readBackward(placeOf(position), 1);
    return record === undefined ? logStart : logPosition(record.place.commit + 1n);
  }

  /** The event at a position, or the next one behind it, whose ever it is. */
  async #from(position: LogPosition): Promise<DriverRecord | undefined> {
    const ask = (): Promise<readonly Resolved[]> => this.#ask((client) => (
      client.readAll({ fromPosition: placeOf(position), maxCount: 1, requiresLeader: true })), 'failures too');
    try {
      return (await ask())[0]?.event;
    } catch (error) {
      if (faultOf(error).kind !== 'failed') throw error;
      return (await this.#again(position, ask))[0]?.event;
    }
  }

  /** A server that is well otherwise, and fails at this position twice, has no event there: it has no error of its own for that. */
  async #again(position: LogPosition, ask: () => Promise<readonly Resolved[]>): Promise<readonly Resolved[]> {
    await this.#readBackward('end', 1);
    try {
      return await ask();
    } catch (cause) {
      if (faultOf(cause).kind === 'failed') throw new UnknownPositionError(position, { cause });
      throw cause;
    }
  }

  #ask<Event extends Resolved>(make: (client: LogDriver) => StreamingRead<Event>, failures?: 'failures too'): Promise<readonly Event[]> {
    return this.#askEach(make, { keep: (event) => event, failures });
  }

  /** With `failures`, what the server itself failed at is thrown as it came; every other failure is told in our words. */
  async #askEach<Event extends Resolved, Kept>(make: (client: LogDriver) => StreamingRead<Event>, { keep, failures }: Asking<Event, Kept>): Promise<readonly Kept[]> {
    const { clock, contact, closing } = this.#context;
    for (let attempt = 1; ; attempt += 1) {
      this.#assertOpen();
      try {
        const answer = await this.#once(make, keep);
        contact.worked();
        return answer;
      } catch (error) {
        const fault = faultOf(error);
        if (fault.kind === 'no-stream') {
          contact.worked();
          return [];
        }
        if (fault.kind === 'tombstone') throw new LogCorruptError('one of its streams was deleted for good', { cause: error });
        if (fault.kind === 'failed' && failures !== undefined) throw error;
        this.#assertOpen(error);
        if (attempt >= logReadAttemptsMax || fault.kind === 'refused') throw await contact.failed(fault, error);
        await delay(clock, askAgainMs(attempt), closing);
      }
    }
  }

  #stored(record: DriverRecord): StoredRecord | undefined {
    const { prefix } = this.#context;
    return streamOf(prefix, record) === undefined ? undefined : storedRecord(prefix, rawRecord(record));
  }

  #ours(answer: readonly Resolved[]): readonly RecordedEvent[] {
    return answer.flatMap(({ event }) => (event === undefined ? undefined : this.#stored(event)?.event) ?? []);
  }

  #assertOpen(cause?: unknown): void {
    if (this.#context.closing.aborted) throw new Error('the log is closed', { cause });
  }

  #once<Event extends Resolved, Kept>(make: (client: LogDriver) => StreamingRead<Event>, keep: (event: Event) => Kept | undefined): Promise<readonly Kept[]> {
    const { client, clock, closing } = this.#context;
    return new Promise((resolve, reject) => {
      const events: Kept[] = [];
      const read = make(client());
      const settle = (finish: () => void): void => {
        timer.cancel();
        closing.removeEventListener('abort', close);
        finish();
      };
      const abandon = (reason: string): void => {
        settle(() => { reject(new Error(reason)); });
        // It answers nobody any more: a failure to cancel it is nobody's either.
        void read.cancel().catch(() => undefined);
        read.destroy();
      };
      const close = (): void => { abandon('the log was closed'); };
      const timer = clock.after(logReplyMs, () => { abandon(`no answer within ${logReplyMs.toString()} ms`); });
      closing.addEventListener('abort', close);
      read.on('data', (event: Event) => {
        const kept = keep(event);
        if (kept !== undefined) events.push(kept);
      });
      read.on('end', () => { settle(() => { resolve(events); }); });
      read.on('error', (error: Error) => { settle(() => { reject(error); }); });
    });
  }
}

function placeOf(position: LogPosition): Place {
  return { commit: position - 1n, prepare: position - 1n };
}

function endAt({ commit }: Place, stream: StreamName | undefined): LogEnd | undefined {
  return stream && { position: logPosition(commit + 1n), stream };
}
