import { FakeClock } from './fake-clock.ts';

/**
 * A fake clock for tests of slices: each call of `monotonic` advances it by `lookMs`, as work between two calls would.
 */
export class ToilingClock extends FakeClock {
  lookMs = 0;
  #toiledMs = 0;

  override monotonic(): number {
    this.#toiledMs += this.lookMs;
    return super.monotonic() + this.#toiledMs;
  }
}
