import { logRecentBytesMax, logRecentEventsMax } from '../../limits/log.ts';
import type { LogPosition, ProposedEvent, RecordedEvent, StreamName } from '../log.ts';

/** A subscriber: the last received position, and the filter of streams. */
export type Follower = {
  seen: LogPosition;
  readonly wants: (stream: StreamName) => boolean;
};

type Own = {
  readonly stream: StreamName;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
  readonly sentMs: number;
  position: LogPosition | undefined;
};

/**
 * The events that this process appended, until its subscribers have received them. Subscribers receive the appended
 * instances, on which decoded values are cached. Above the memory limits, subscribers receive copies.
 */
export class OwnEvents {
  /** The events by id, in the order of the appends. */
  readonly #events = new Map<string, Own>();
  readonly #followers = new Set<Follower>();
  #bytes = 0;

  follow(follower: Follower): void {
    this.#followers.add(follower);
  }

  leave(follower: Follower): void {
    this.#followers.delete(follower);
  }

  /**
   * Stores the events of an append if a subscriber wants the stream. `sentMs` is the monotonic time of sending; a retry
   * does not change this time.
   */
  remember(stream: StreamName, events: readonly ProposedEvent[], sentMs: number): void {
    if (!this.#isWanted(stream)) return;
    for (const { id, data, metadata } of events) {
      if (this.#events.has(id)) continue;
      this.#events.set(id, { stream, data, metadata, sentMs, position: undefined });
      this.#bytes += data.length + metadata.length;
    }
    while (this.#events.size > logRecentEventsMax || this.#bytes > logRecentBytesMax) this.#dropOldest();
  }

  /** Drops the events of an append that failed or has an unknown outcome. */
  forget(events: readonly ProposedEvent[]): void {
    for (const { id } of events) this.#drop(id);
  }

  /** Returns the monotonic time at which an event was sent; undefined if the event is not stored. */
  sentMs(id: string): number | undefined {
    return this.#events.get(id)?.sentMs;
  }

  /** Returns the event with the appended instances of its bytes, if the instances are still in memory. */
  own(event: RecordedEvent): RecordedEvent {
    const own = this.#events.get(event.id);
    if (own?.stream !== event.stream || own.data.length !== event.data.length) return event;
    own.position = event.position;
    return { ...event, data: own.data, metadata: own.metadata };
  }

  /**
   * Drops the oldest events, up to the first event that a subscriber has not received. Long-lived events are expensive
   * for the garbage collector.
   */
  trim(): void {
    for (const [id, { stream, position }] of this.#events) {
      if (position === undefined || this.#isWanted(stream, position)) return;
      this.#drop(id);
    }
  }

  /**
   * Returns whether a subscriber wants the stream. With a position, ignores subscribers that have received the event at
   * the position.
   */
  #isWanted(stream: StreamName, position?: LogPosition): boolean {
    for (const { seen, wants } of this.#followers)
      if ((position === undefined || seen < position) && wants(stream)) return true;
    return false;
  }

  #dropOldest(): void {
    for (const id of this.#events.keys()) {
      this.#drop(id);
      return;
    }
  }

  #drop(id: string): void {
    const own = this.#events.get(id);
    if (own === undefined) return;
    this.#bytes -= own.data.length + own.metadata.length;
    this.#events.delete(id);
  }
}
