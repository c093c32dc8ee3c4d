import type { Clock } from '../../base/clock.ts';

/**
 * The server's clock, which all nodes of a log share, estimated from the times of its events. An own append was written
 * between its sending and its reading here, which bounds the offset to the monotonic clock. So the estimate continues
 * between appends, independent of the wall clock.
 */
export class ServerTime {
  readonly #clock: Clock;
  /** The offset to the monotonic clock, in milliseconds: lower and upper bound; unknown before the first own append. */
  #offset: { readonly least: number; readonly most: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Call it when an own append, first sent at `sentMs` (monotonic), has just been read. */
  own(createdMs: number, sentMs: number): void {
    if (createdMs > 0) this.#offset = { least: createdMs - this.#clock.monotonic(), most: createdMs - sentMs };
  }

  /**
   * Call it when any event has just been read: its time is not in the future. This detects that the machine was
   * suspended.
   */
  seen(createdMs: number): void {
    const least = createdMs - this.#clock.monotonic();
    if (this.#offset === undefined || least <= this.#offset.least) return;
    this.#offset = { least, most: Math.max(least, this.#offset.most) };
  }

  /** The server's time. Equals the wall clock if that is within the bounds. */
  now(): number | undefined {
    if (this.#offset === undefined) return undefined;
    const { least, most } = this.#offset;
    const passed = this.#clock.monotonic();
    return Math.min(Math.max(this.#clock.now(), passed + least), passed + most);
  }
}
