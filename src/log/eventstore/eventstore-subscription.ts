import { setImmediate as nextTurn } from 'node:timers/promises';

import { convertToCommandError } from '@eventstore/db-client';

import { logReadAheadBytesMax, logReadAheadEventsMax, projectionBatchEventsMax } from '../../limits/log.ts';
import type { LogDriver, SubscriptionCall } from './eventstore-client.ts';
import { logReceivedBytesMax, logReceivedEventsMax } from './eventstore-limits.ts';
import type { RawRecord, StoredRecord } from './eventstore-record.ts';
import type { WireAnswer } from './eventstore-wire.ts';
import { LogCorruptError, logStart } from '../log.ts';
import type { LogPosition, RecordedEvent } from '../log.ts';

/** Events behind `after`, of streams whose names on the server begin with one of `prefixes`. */
export type Subscribed = { readonly after: LogPosition; readonly prefixes: readonly string[] };

/** One subscription: events are taken from it at the reader's pace, and what is not taken stays on the server. */
export class LiveSubscription {
  readonly #onConfirmed: () => void;
  #call: SubscriptionCall | undefined;
  #isSameServer: () => boolean = () => false;
  #confirmed = false;
  #ended: Error | undefined;
  #closed = false;
  /** What has come, from `#next` on. */
  #queue: RawRecord[] = [];
  #next = 0;
  #bytes = 0;
  #paused = false;
  #wake: (() => void) | undefined;
  /** Something may have come since the last wait. */
  #stirred = false;

  constructor(client: LogDriver, { after, prefixes }: Subscribed, onConfirmed: () => void) {
    this.#onConfirmed = onConfirmed;
    client.subscribe(after === logStart ? 'start' : after - 1n, prefixes, (call, isSameServer) => { this.#attach(call, isSameServer); })
      .catch((error: unknown) => { this.#end(error instanceof Error ? error : new Error('the driver failed without an error')); });
  }

  #attach(call: SubscriptionCall, isSameServer: () => boolean): void {
    this.#call = call;
    this.#isSameServer = isSameServer;
    call.on('error', (error: Error) => { this.#end(convertToCommandError(error)); });
    call.on('data', (answer: WireAnswer) => { this.#receive(answer); });
    call.on('end', () => { this.#end(new Error('the server ended the subscription')); });
    call.on('close', () => { this.#end(new Error('the subscription was closed')); });
    if (this.#closed) this.#cancel(call);
  }

  #receive(answer: WireAnswer): void {
    if (answer === 'other' || this.#closed) return;
    if (answer === 'confirmed') {
      this.#onConfirmed();
      this.#confirmed = true;
      this.stir();
      return;
    }
    this.#queue.push(answer);
    this.#bytes += answer.data.length + answer.metadata.length;
    if (!this.#paused && (this.#queue.length >= logReceivedEventsMax || this.#bytes >= logReceivedBytesMax)) {
      this.#paused = true;
      this.#call?.pause();
    }
    this.stir();
  }

  /** The server has found where it begins. */
  get confirmed(): boolean {
    return this.#confirmed;
  }

  /** Whether what the client is asked beside it, it is asked of the server that serves this. */
  get isSameServer(): boolean {
    return this.#isSameServer();
  }

  /** The next event that is here already. */
  take(): RawRecord | undefined {
    const next = this.#queue[this.#next];
    if (next !== undefined) {
      this.#next += 1;
      return next;
    }
    this.#queue = [];
    this.#next = 0;
    this.#bytes = 0;
    if (this.#paused) {
      this.#paused = false;
      this.#call?.resume();
    }
    return undefined;
  }

  /** Why nothing will come any more. What came before can still be taken. */
  get ended(): Error | undefined {
    return this.#ended;
  }

  /** Resolves when there may be something to take, when it has ended, or when it is stirred. */
  async stirred(): Promise<void> {
    if (!this.#stirred) await new Promise<void>((resolve) => { this.#wake = resolve; });
    this.#wake = undefined;
    // What comes in one piece over the wire is told event by event: with some turns' patience it is one batch. A lone event
    // waits for one turn.
    let before: number;
    do {
      before = this.#queue.length;
      await nextTurn();
    } while (this.#queue.length > before && this.#queue.length < projectionBatchEventsMax);
    this.#stirred = false;
  }

  stir(): void {
    this.#stirred = true;
    this.#wake?.();
  }

  close(): void {
    this.#closed = true;
    this.#queue = [];
    if (this.#call !== undefined) this.#cancel(this.#call);
  }

  /** Not in the turn in which it was made: gRPC would forget it. */
  #cancel(call: SubscriptionCall): void {
    void nextTurn().then(() => { call.cancel(); });
    call.resume();
  }

  #end(error: Error): void {
    this.#ended ??= error;
    this.stir();
  }
}

export type Wanted = (stream: string) => boolean;

/**
 * Events as they come, made into batches of whole appends. What a reader has seen is told by position, so an event that
 * comes twice is taken once.
 */
export class Batches {
  readonly #wanted: Wanted;
  #seen: LogPosition;
  /** The last event that will always stand where it does: a lease's may be dropped by the server. */
  #anchor: RecordedEvent | undefined;
  /** Whole appends, wanted events only. */
  #ready: RecordedEvent[] = [];
  #bytes = 0;
  /** Events of the append that is coming in; how many of it have come, wanted or not. */
  #partial: RecordedEvent[] = [];
  #next = 1;

  constructor(after: LogPosition, wanted: Wanted) {
    this.#seen = after;
    this.#wanted = wanted;
  }

  /** Of the last append that has come in whole. */
  get seen(): LogPosition {
    return this.#seen;
  }

  get anchor(): RecordedEvent | undefined {
    return this.#anchor;
  }

  /** An event that stands where the reader begins. */
  begin(event: RecordedEvent): void {
    if (isKept(event)) this.#anchor = event;
  }

  /** Takes one event; answers a batch when there is no room for more. */
  add(record: StoredRecord): readonly RecordedEvent[] | undefined {
    const { event, place } = record;
    if (event.position <= this.#seen || event.position <= (this.#partial.at(-1)?.position ?? logStart)) return undefined;
    if (place === undefined && this.#partial.length === 0) return this.#addWhole(event);
    this.#assertNext(record);
    this.#partial.push(event);
    this.#next = (place?.index ?? 1) + 1;
    return place?.index === place?.of ? this.#addPartial() : undefined;
  }

  /** A reader that begins within an append begins in its middle; afterwards every append comes whole. */
  #assertNext({ event, place }: StoredRecord): void {
    const before = this.#partial.at(-1);
    if (before === undefined) return;
    if (place?.index === this.#next && before.stream === event.stream && before.revision + 1 === event.revision) return;
    throw new LogCorruptError(`event ${event.id} interrupts the append before it`);
  }

  #addWhole(event: RecordedEvent): readonly RecordedEvent[] | undefined {
    this.#see(event);
    if (!this.#wanted(event.stream)) return undefined;
    this.#ready.push(event);
    this.#bytes += event.data.length + event.metadata.length;
    return this.#ready.length >= logReadAheadEventsMax || this.#bytes >= logReadAheadBytesMax ? this.flush() : undefined;
  }

  #addPartial(): readonly RecordedEvent[] | undefined {
    const append = this.#partial;
    this.#partial = [];
    const full = this.#ready.length > 0 && this.#ready.length + append.length > logReadAheadEventsMax ? this.flush() : undefined;
    for (const event of append) {
      this.#see(event);
      if (!this.#wanted(event.stream)) continue;
      this.#ready.push(event);
      this.#bytes += event.data.length + event.metadata.length;
    }
    return full ?? (this.#ready.length >= logReadAheadEventsMax || this.#bytes >= logReadAheadBytesMax ? this.flush() : undefined);
  }

  #see(event: RecordedEvent): void {
    this.#seen = event.position;
    if (isKept(event)) this.#anchor = event;
  }

  /** The whole appends that are here. */
  flush(): readonly RecordedEvent[] {
    const batch = this.#ready;
    this.#ready = [];
    this.#bytes = 0;
    return batch;
  }

  /** Where a read ends within an append, what has come of it counts. */
  cut(): readonly RecordedEvent[] {
    for (const event of this.#partial) if (this.#wanted(event.stream)) this.#ready.push(event);
    this.#partial = [];
    return this.flush();
  }

  /** The next subscription begins after the last whole append. */
  restart(): void {
    this.#partial = [];
  }
}

function isKept({ stream }: RecordedEvent): boolean {
  return !stream.startsWith('lease:');
}
