import { logRecentEventsMax, logRecentBytesMax } from '../../limits/log.ts';
import type { RecordedEvent } from '../log.ts';

/** A subscriber: all that is known of it is the position it takes next. */
export type Follower = { next: number };

/**
 * The newest durable events, shared by all subscribers: a ring found by position. A subscriber holds only a position, so
 * a slow one costs nothing here: what it has not taken is overwritten, and it reads that from disk. What all who keep up
 * have taken is dropped at once: events that are kept longer grow old in the heap, and cost the collector far more.
 */
export class RecentEvents {
  readonly #ring: (RecordedEvent | undefined)[] = Array.from({ length: logRecentEventsMax }, () => undefined);
  /** Position of the oldest event kept; one past the newest when none is. */
  #first: number;
  /** One past the newest. */
  #next: number;
  #bytes = 0;

  constructor(next: number) {
    this.#first = next;
    this.#next = next;
  }

  /** Takes the event at the next position, dropping the oldest past either bound. */
  push(event: RecordedEvent): void {
    this.#bytes += sizeOf(event);
    while (this.#next - this.#first >= logRecentEventsMax || (this.#bytes > logRecentBytesMax && this.#first < this.#next)) this.#dropOldest();
    this.#ring[this.#next % logRecentEventsMax] = event;
    this.#next += 1;
  }

  /** The event at a position, unless it is too old to be kept, or not there yet. */
  at(position: number): RecordedEvent | undefined {
    return position >= this.#first && position < this.#next ? this.#ring[position % logRecentEventsMax] : undefined;
  }

  /** Drops what no follower within the ring is still to take. */
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
