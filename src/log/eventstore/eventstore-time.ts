import type { Clock } from '../../base/clock.ts';

/**
 * Estimates the time of EventStoreDB's clock, which all nodes of a log share. EventStoreDB wrote an append of this
 * process between the times of sending and reading back. These times limit the offset of the server's clock to the
 * monotonic clock, so a wrong wall clock has a limited effect.
 */
export class ServerTime {
  readonly #clock: Clock;
  /** The limits of the offset to the monotonic clock, in ms; undefined before the first own append. */
  #offset: { readonly least: number; readonly most: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Sets both limits by an event of this process. The event was sent at `sentMs` (monotonic), and has just been read.
   */
  own(createdMs: number, sentMs: number): void {
    if (createdMs > 0) this.#offset = { least: createdMs - this.#clock.monotonic(), most: createdMs - sentMs };
  }

  /**
   * Raises the limits, if necessary, by an event that has just been read. An event's time is not in the future, but the
   * monotonic clock may have stopped while the machine was suspended.
   */
  seen(createdMs: number): void {
    const least = createdMs - this.#clock.monotonic();
    if (this.#offset === undefined || least <= this.#offset.least) return;
    this.#offset = { least, most: Math.max(least, this.#offset.most) };
  }

  /**
   * Returns EventStoreDB's time: the wall clock's time, moved into the limits. Undefined before the first own append.
   */
  now(): number | undefined {
    if (this.#offset === undefined) return undefined;
    const { least, most } = this.#offset;
    const passed = this.#clock.monotonic();
    return Math.min(Math.max(this.#clock.now(), passed + least), passed + most);
  }
}
