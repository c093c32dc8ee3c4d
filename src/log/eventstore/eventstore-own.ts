import { logRecentBytesMax, logRecentEventsMax } from '../../limits/log.ts';
import type { LogPosition, ProposedEvent, RecordedEvent, StreamName } from '../log.ts';

/** A subscriber: the last position it has seen, and which streams' events it gets at all. */
export type Follower = { seen: LogPosition; readonly wants: (stream: StreamName) => boolean };

type Own = { readonly stream: StreamName; readonly data: Uint8Array; readonly metadata: Uint8Array; readonly sentMs: number; position: LogPosition | undefined };

/**
 * The events this process appended, until its subscribers have seen them: they get the very instances, so what is
 * memoized by them is not worked out again. Bounded, as a subscriber may be slow; past the bounds it gets equal bytes.
 */
export class OwnEvents {
  /** By id, in the order they were proposed. */
  readonly #events = new Map<string, Own>();
  readonly #followers = new Set<Follower>();
  #bytes = 0;

  follow(follower: Follower): void {
    this.#followers.add(follower);
  }

  leave(follower: Follower): void {
    this.#followers.delete(follower);
  }

  /** `sentMs`: on the monotonic clock. What is sent again was first sent then. */
  remember(stream: StreamName, events: readonly ProposedEvent[], sentMs: number): void {
    if (!this.#isWanted(stream)) return;
    for (const { id, data, metadata } of events) {
      if (this.#events.has(id)) continue;
      this.#events.set(id, { stream, data, metadata, sentMs, position: undefined });
      this.#bytes += data.length + metadata.length;
    }
    while (this.#events.size > logRecentEventsMax || this.#bytes > logRecentBytesMax) this.#dropOldest();
  }

  /** Nothing of it will be delivered, or not soon. */
  forget(events: readonly ProposedEvent[]): void {
    for (const { id } of events) this.#drop(id);
  }

  /** When an event of this process's was first sent, on the monotonic clock. */
  sentMs(id: string): number | undefined {
    return this.#events.get(id)?.sentMs;
  }

  /** The event with the bytes that were appended, if they are still here. */
  own(event: RecordedEvent): RecordedEvent {
    const own = this.#events.get(event.id);
    if (own?.stream !== event.stream || own.data.length !== event.data.length) return event;
    own.position = event.position;
    return { ...event, data: own.data, metadata: own.metadata };
  }

  /** Drops, oldest first, what every subscriber has seen: events that are kept longer only cost the collector. */
  trim(): void {
    for (const [id, { stream, position }] of this.#events) {
      if (position === undefined || this.#isWanted(stream, position)) return;
      this.#drop(id);
    }
  }

  /** Whether a subscriber is still to get an event of this stream: with a position, one that it has not seen. */
  #isWanted(stream: StreamName, position?: LogPosition): boolean {
    for (const { seen, wants } of this.#followers) if ((position === undefined || seen < position) && wants(stream)) return true;
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
