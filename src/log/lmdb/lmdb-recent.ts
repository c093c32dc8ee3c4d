import { logRecentEventsMax, logRecentBytesMax } from '../../limits/log.ts';
import type { RecordedEvent } from '../log.ts';

/** A subscriber, with the position of the next event that the subscriber takes. */
export type Follower = { next: number };

/**
 * The newest durable events, which all subscribers share: a ring indexed by position. A subscriber is only a position,
 * so a slow subscriber uses no memory and reads overwritten events from disk. Events that all up-to-date followers have
 * taken are dropped at once, since old objects cost the garbage collector far more.
 */
export class RecentEvents {
  readonly #ring: (RecordedEvent | undefined)[] = Array.from({ length: logRecentEventsMax }, () => undefined);
  /** The position of the oldest event; if the ring is empty, the position after the newest. */
  #first: number;
  /** The position after the newest event. */
  #next: number;
  #bytes = 0;

  constructor(next: number) {
    this.#first = next;
    this.#next = next;
  }

  /** Adds the event at the next position. Drops the oldest events above the limit of count or bytes. */
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

  /** The event at a position; undefined if it was dropped or does not exist yet. */
  at(position: number): RecordedEvent | undefined {
    return position >= this.#first && position < this.#next ? this.#ring[position % logRecentEventsMax] : undefined;
  }

  /** Drops the events that no follower needs; followers behind the ring do not count. */
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
