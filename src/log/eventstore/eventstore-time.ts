import type { Clock } from '../../base/clock.ts';

/**
 * Estimates the time of EventStoreDB's clock, which all nodes of a log share, from the times of events. EventStoreDB
 * wrote an append of this process after the append was sent and before it was read back. These two times limit the
 * offset of EventStoreDB's clock to the monotonic clock. A wrong wall clock therefore cannot move the estimate beyond
 * the limits.
 */
export class ServerTime {
  readonly #clock: Clock;
  /** The lower and upper limit of the offset to the monotonic clock, in ms; undefined before the first own append. */
  #offset: { readonly least: number; readonly most: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Sets both limits by an event of this process, which was sent at `sentMs` (monotonic) and has just been read. */
  own(createdMs: number, sentMs: number): void {
    if (createdMs > 0) this.#offset = { least: createdMs - this.#clock.monotonic(), most: createdMs - sentMs };
  }

  /**
   * Raises the lower limit if an event that has just been read requires a higher limit, because its time is not in the
   * future. This happens, for example, after the machine was suspended.
   */
  seen(createdMs: number): void {
    const least = createdMs - this.#clock.monotonic();
    if (this.#offset === undefined || least <= this.#offset.least) return;
    this.#offset = { least, most: Math.max(least, this.#offset.most) };
  }

  /**
   * Returns EventStoreDB's time: the time of the wall clock, moved into the limits. Undefined before the first own
   * append.
   */
  now(): number | undefined {
    if (this.#offset === undefined) return undefined;
    const { least, most } = this.#offset;
    const passed = this.#clock.monotonic();
    return Math.min(Math.max(this.#clock.now(), passed + least), passed + most);
  }
}
