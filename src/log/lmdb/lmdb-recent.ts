import { logRecentEventsMax, logRecentBytesMax } from '../../limits/log.ts';
import type { RecordedEvent } from '../log.ts';

/** A subscriber. `next` is the position of the next event to deliver. */
export type Follower = { next: number };

/**
 * The newest durable events, in a ring that all followers share. A slow follower reads overwritten events from disk.
 * Events that all followers have received are dropped, because long-lived objects are expensive for the garbage
 * collector.
 */
export class RecentEvents {
  readonly #ring: (RecordedEvent | undefined)[] = Array.from({ length: logRecentEventsMax }, () => undefined);
  /** The position of the oldest event. In an empty ring, equal to `#next`. */
  #first: number;
  /** The position after the newest event. */
  #next: number;
  #bytes = 0;

  constructor(next: number) {
    this.#first = next;
    this.#next = next;
  }

  /** Adds the event at the next position. Drops the oldest events above the limits of count or bytes. */
  push(event: RecordedEvent): void {
    this.#bytes += sizeOf(event);
    while (
      this.#next - this.#first >= logRecentEventsMax ||
      (this.#bytes > logRecentBytesMax && this.#first < this.#next)
    )
      this.#dropOldest();
    this.#ring[this.#next % logRecentEventsMax] = event;
    this.#next += 1;
  }

  /** Returns the event at a position; undefined if the event is not in the ring. */
  at(position: number): RecordedEvent | undefined {
    return position >= this.#first && position < this.#next ? this.#ring[position % logRecentEventsMax] : undefined;
  }

  /** Drops the events that no follower needs. Ignores followers that have fallen behind the ring. */
  trim(followers: Iterable<Follower>): void {
    let keep = this.#next;
    for (const { next } of followers) if (next >= this.#first && next < keep) keep = next;
    while (this.#first < keep) this.#dropOldest();
  }

  #dropOldest(): void {
    const place = this.#first % logRecentEventsMax;
    const oldest = this.#ring[place];
    if (oldest !== undefined) this.#bytes -= sizeOf(oldest);
    this.#ring[place] = undefined;
    this.#first += 1;
  }
}

function sizeOf(event: RecordedEvent): number {
  return event.data.length + event.metadata.length;
}
