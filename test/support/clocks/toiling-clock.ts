import { FakeClock } from './fake-clock.ts';

/**
 * A fake clock that shows how work is shared out: each look at it takes `lookMs`, as the work between two looks does.
 */
export class ToilingClock extends FakeClock {
  lookMs = 0;
  #toiledMs = 0;

  override monotonic(): number {
    this.#toiledMs += this.lookMs;
    return super.monotonic() + this.#toiledMs;
  }
}
