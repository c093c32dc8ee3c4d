import type { Clock } from '../../base/clock.ts';

/**
 * The server's clock, as its events tell it: the one clock that all nodes of a log share. An append of this node's own was
 * written after it was sent and before it was read, which says within a moment what is to be added to the monotonic clock
 * here. So it goes on telling the time between two appends, whatever becomes of the wall clock.
 */
export class ServerTime {
  readonly #clock: Clock;
  /** Milliseconds to add to the monotonic clock, at least and at most; unknown before the first own append. */
  #offset: { readonly least: number; readonly most: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** An append of this node's own, first sent at `sentMs` on the monotonic clock, was read just now. */
  own(createdMs: number, sentMs: number): void {
    if (createdMs > 0) this.#offset = { least: createdMs - this.#clock.monotonic(), most: createdMs - sentMs };
  }

  /** Anybody's event was read just now: it is not of later than now. A machine that slept learns of it so. */
  seen(createdMs: number): void {
    const least = createdMs - this.#clock.monotonic();
    if (this.#offset === undefined || least <= this.#offset.least) return;
    this.#offset = { least, most: Math.max(least, this.#offset.most) };
  }

  /** What the server's clock says: the wall clock's own time as far as it can be that. */
  now(): number | undefined {
    if (this.#offset === undefined) return undefined;
    const { least, most } = this.#offset;
    const passed = this.#clock.monotonic();
    return Math.min(Math.max(this.#clock.now(), passed + least), passed + most);
  }
}
