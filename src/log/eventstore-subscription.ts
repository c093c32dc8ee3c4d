import { setImmediate as nextTurn } from 'node:timers/promises';

import { streamNameFilter } from '@eventstore/db-client';
import type { AllStreamResolvedEvent, AllStreamSubscription } from '@eventstore/db-client';

import { logReadAheadBytesMax, logReadAheadEventsMax } from '../limits.ts';
import type { LogClient } from './eventstore-client.ts';
import { logDriverEventsMax } from './eventstore-limits.ts';
import { storedRecord, streamPrefix } from './eventstore-record.ts';
import type { StoredRecord } from './eventstore-record.ts';
import { LogCorruptError, logStart } from './log.ts';
import type { LogPosition, RecordedEvent } from './log.ts';

/** One subscription of the driver's: events are taken from it at the reader's pace, and what is not taken stays on the server. */
export class DriverSubscription {
  readonly #subscription: AllStreamSubscription;
  #ended: Error | undefined;
  #wake: (() => void) | undefined;
  /** Something may have come since the last wait. */
  #stirred = false;

  constructor(client: LogClient, after: LogPosition, onConfirmed: () => void) {
    const fromPosition = after === logStart ? 'start' : { commit: after - 1n, prepare: after - 1n };
    // Checkpoints are of no use here, as they run ahead of the reader: the fewer the better.
    const filter = streamNameFilter({ prefixes: [streamPrefix], checkpointInterval: 1_000 });
    this.#subscription = client.subscribeToAll({ fromPosition, filter }, { highWaterMark: logDriverEventsMax });
    this.#subscription.on('confirmation', onConfirmed);
    this.#subscription.on('readable', () => { this.stir(); });
    this.#subscription.on('end', () => { this.#end(new Error('the server ended the subscription')); });
    this.#subscription.on('close', () => { this.#end(new Error('the subscription was closed')); });
    this.#subscription.on('error', (error: Error) => { this.#end(error); });
  }

  /** The next event that is here already. */
  take(): AllStreamResolvedEvent | undefined {
    const next: unknown = this.#subscription.read();
    return isResolved(next) ? next : undefined;
  }

  /** Why nothing will come any more. What came before can still be taken. */
  get ended(): Error | undefined {
    return this.#ended;
  }

  /** Resolves when there may be something to take, when it has ended, or when it is stirred. */
  async stirred(): Promise<void> {
    if (!this.#stirred) await new Promise<void>((resolve) => { this.#wake = resolve; });
    this.#wake = undefined;
    // What came in one piece over the wire is told event by event: with a turn's patience it is one batch.
    await nextTurn();
    this.#stirred = false;
  }

  stir(): void {
    this.#stirred = true;
    this.#wake?.();
  }

  close(): void {
    // It fails when there never was a connection; then there is nothing to cancel.
    void this.#subscription.unsubscribe().catch(() => undefined);
    this.#subscription.destroy();
  }

  #end(error: Error): void {
    this.#ended ??= error;
    this.stir();
  }
}

function isResolved(value: unknown): value is AllStreamResolvedEvent {
  return typeof value === 'object' && value !== null;
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

  set anchor(event: RecordedEvent | undefined) {
    this.#anchor = event;
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
    if (!event.stream.startsWith('lease:')) this.#anchor = event;
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

export function records(resolved: AllStreamResolvedEvent): StoredRecord | undefined {
  return resolved.event === undefined ? undefined : storedRecord(resolved.event);
}
