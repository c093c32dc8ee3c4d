import type { Clock } from '../../base/clock.ts';

/**
 * Estimates the time of EventStoreDB's clock, which all nodes of a log share. EventStoreDB writes an event between the
 * times at which this process sends the event and reads it back. These times limit the offset of the server's clock
 * from the monotonic clock, so a wrong wall clock has a limited effect.
 */
export class ServerTime {
  readonly #clock: Clock;
  /** The limits of the offset to the monotonic clock, in ms; undefined before the first own append. */
  #offset: { readonly least: number; readonly most: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Sets both limits from an event of this process. The event was sent at `sentMs` (monotonic), and has just been read.
   */
  own(createdMs: number, sentMs: number): void {
    if (createdMs > 0) this.#offset = { least: createdMs - this.#clock.monotonic(), most: createdMs - sentMs };
  }

  /**
   * Raises the limits, if necessary, for an event that has just been read. The event cannot have been written in the
   * future. If its time exceeds the estimate, the monotonic clock stopped while the machine was suspended.
   */
  seen(createdMs: number): void {
    const least = createdMs - this.#clock.monotonic();
    if (this.#offset === undefined || least <= this.#offset.least) return;
    this.#offset = { least, most: Math.max(least, this.#offset.most) };
  }

  /**
   * Returns EventStoreDB's time: the wall clock's time, or the nearest time that the limits allow. Undefined before the
   * first own append.
   */
  now(): number | undefined {
    if (this.#offset === undefined) return undefined;
    const { least, most } = this.#offset;
    const passed = this.#clock.monotonic();
    return Math.min(Math.max(this.#clock.now(), passed + least), passed + most);
  }
}
