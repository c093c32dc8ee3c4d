import { setImmediate as nextTurn } from 'node:timers/promises';

import { convertToCommandError } from '@eventstore/db-client';

import { logReadAheadBytesMax, logReadAheadEventsMax, projectionBatchEventsMax } from '../../limits/log.ts';
import type { LogDriver } from './eventstore-client.ts';
import type { SubscriptionCall } from './eventstore-filtered-read.ts';
import { logReceivedBytesMax, logReceivedEventsMax } from './eventstore-limits.ts';
import type { RawRecord, StoredRecord } from './eventstore-record.ts';
import type { WireAnswer } from './eventstore-wire.ts';
import { LogCorruptError, logStart } from '../log.ts';
import type { LogPosition, RecordedEvent } from '../log.ts';

/** The events after `after`, in the EventStoreDB streams with one of `prefixes`. */
export type Subscribed = {
  readonly after: LogPosition;
  readonly prefixes: readonly string[];
};

/**
 * One subscription, from which the reader takes events. At a limit of buffered events or bytes, the subscription
 * pauses, and further events remain on the server.
 */
export class LiveSubscription {
  readonly #onConfirmed: () => void;
  #call: SubscriptionCall | undefined;
  #isSameServer: () => boolean = () => false;
  #confirmed = false;
  #ended: Error | undefined;
  #closed = false;
  /** The received events. The events before `#next` are already taken. */
  #queue: RawRecord[] = [];
  #next = 0;
  #bytes = 0;
  #paused = false;
  #wake: (() => void) | undefined;
  /** Whether `stir` was called since the last call of `stirred`. */
  #isActive = false;

  constructor(client: LogDriver, { after, prefixes }: Subscribed, onConfirmed: () => void) {
    this.#onConfirmed = onConfirmed;
    client
      .subscribe(after === logStart ? 'start' : after - 1n, prefixes, (call, isSameServer) => {
        this.#attach(call, isSameServer);
      })
      .catch((error: unknown) => {
        this.#end(error instanceof Error ? error : new Error('the driver failed without an error'));
      });
  }

  #attach(call: SubscriptionCall, isSameServer: () => boolean): void {
    this.#call = call;
    this.#isSameServer = isSameServer;
    call.on('error', (error: Error) => {
      this.#end(convertToCommandError(error));
    });
    call.on('data', (answer: WireAnswer) => {
      this.#receive(answer);
    });
    call.on('end', () => {
      this.#end(new Error('the server ended the subscription'));
    });
    call.on('close', () => {
      this.#end(new Error('the subscription was closed'));
    });
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

  /** Whether the server has confirmed the subscription, and has thus located the start position. */
  get confirmed(): boolean {
    return this.#confirmed;
  }

  /** Whether the client still uses the server of this subscription for other calls. */
  get isSameServer(): boolean {
    return this.#isSameServer();
  }

  /** Returns the next received event; undefined while none is buffered. */
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

  /**
   * The reason why no more events will arrive; undefined while events may arrive. Buffered events can still be taken.
   */
  get ended(): Error | undefined {
    return this.#ended;
  }

  /** Resolves after an event, after the end of the subscription, or after a call of `stir`. */
  async stirred(): Promise<void> {
    if (!this.#isActive)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    this.#wake = undefined;
    // The events of one network packet arrive one by one. Waits until a turn brings no further event, so that the
    // events form one batch.
    let before: number;
    do {
      before = this.#queue.length;
      await nextTurn();
    } while (this.#queue.length > before && this.#queue.length < projectionBatchEventsMax);
    this.#isActive = false;
  }

  stir(): void {
    this.#isActive = true;
    this.#wake?.();
  }

  close(): void {
    this.#closed = true;
    this.#queue = [];
    if (this.#call !== undefined) this.#cancel(this.#call);
  }

  /** Cancels the call in a later turn, because gRPC ignores a cancellation in the turn that creates the call. */
  #cancel(call: SubscriptionCall): void {
    void nextTurn().then(() => {
      call.cancel();
    });
    call.resume();
  }

  #end(error: Error): void {
    this.#ended ??= error;
    this.stir();
  }
}

export type Wanted = (stream: string) => boolean;

/** Groups events into batches of whole appends, and drops repeated events. */
export class Batches {
  readonly #wanted: Wanted;
  #seen: LogPosition;
  /** The last event up to `#seen` in a stream that is not a lease. The server may delete events of leases. */
  #anchor: RecordedEvent | undefined;
  /** The events of whole appends that pass the filter and are not delivered yet. */
  #ready: RecordedEvent[] = [];
  #bytes = 0;
  /** The received events of the incomplete append. */
  #partial: RecordedEvent[] = [];
  /** The place of the next event in the incomplete append. Places begin with 1. */
  #next = 1;

  constructor(after: LogPosition, wanted: Wanted) {
    this.#seen = after;
    this.#wanted = wanted;
  }

  /** The position of the last event of the last complete append, or the start of the reader. */
  get seen(): LogPosition {
    return this.#seen;
  }

  get anchor(): RecordedEvent | undefined {
    return this.#anchor;
  }

  /** Sets the anchor to the event at the start of the reader, except for an event of a lease. */
  begin(event: RecordedEvent): void {
    if (isKept(event)) this.#anchor = event;
  }

  /** Adds an event. Returns a batch when a limit is reached. */
  add(record: StoredRecord): readonly RecordedEvent[] | undefined {
    const { event, place } = record;
    if (event.position <= this.#seen || event.position <= (this.#partial.at(-1)?.position ?? logStart))
      return undefined;
    if (place === undefined && this.#partial.length === 0) return this.#addWhole(event);
    this.#assertNext(record);
    this.#partial.push(event);
    this.#next = (place?.index ?? 1) + 1;
    return place?.index === place?.of ? this.#addPartial() : undefined;
  }

  /**
   * Verifies the order of events in an append. The first received append may lack its first events, if the reader
   * starts within this append.
   */
  #assertNext({ event, place }: StoredRecord): void {
    const before = this.#partial.at(-1);
    if (before === undefined) return;
    if (place?.index === this.#next && before.stream === event.stream && before.revision + 1 === event.revision) return;
    throw new LogCorruptError(`event ${event.id} follows an incomplete append`);
  }

  #addWhole(event: RecordedEvent): readonly RecordedEvent[] | undefined {
    this.#see(event);
    if (!this.#wanted(event.stream)) return undefined;
    this.#ready.push(event);
    this.#bytes += event.data.length + event.metadata.length;
    return this.#ready.length >= logReadAheadEventsMax || this.#bytes >= logReadAheadBytesMax
      ? this.flush()
      : undefined;
  }

  #addPartial(): readonly RecordedEvent[] | undefined {
    const append = this.#partial;
    this.#partial = [];
    const full =
      this.#ready.length > 0 && this.#ready.length + append.length > logReadAheadEventsMax ? this.flush() : undefined;
    for (const event of append) {
      this.#see(event);
      if (!this.#wanted(event.stream)) continue;
      this.#ready.push(event);
      this.#bytes += event.data.length + event.metadata.length;
    }
    return (
      full ??
      (this.#ready.length >= logReadAheadEventsMax || this.#bytes >= logReadAheadBytesMax ? this.flush() : undefined)
    );
  }

  #see(event: RecordedEvent): void {
    this.#seen = event.position;
    if (isKept(event)) this.#anchor = event;
  }

  /** Removes and returns the events of complete appends. */
  flush(): readonly RecordedEvent[] {
    const batch = this.#ready;
    this.#ready = [];
    this.#bytes = 0;
    return batch;
  }

  /** Returns and removes all events, for a read that may end in the middle of an append. */
  cut(): readonly RecordedEvent[] {
    for (const event of this.#partial) if (this.#wanted(event.stream)) this.#ready.push(event);
    this.#partial = [];
    return this.flush();
  }

  /** Drops the incomplete append, because the next subscription starts after the last complete append. */
  restart(): void {
    this.#partial = [];
  }
}

function isKept({ stream }: RecordedEvent): boolean {
  return !stream.startsWith('lease:');
}
