import type { Clock, Timer } from '../../base/clock.ts';
import { filesPollMs, filesSettleMs } from '../lifecycle/life-limits.ts';

/** Runs a scan repeatedly, one at a time. `hint` causes an earlier scan. */
export class Poll {
  readonly #clock: Clock;
  readonly #scan: () => Promise<number>;
  #timer: Timer | undefined;
  #isClosed = false;
  #looking: Promise<void> = Promise.resolve();
  /** Whether a scan runs or is due soon. A hint then has no effect, so that frequent hints do not postpone the scan. */
  #isSoon = false;

  /**
   * `scan` resolves to the time in milliseconds until the next scan. If `scan` fails, the next scan runs after
   * `filesPollMs`.
   */
  constructor(clock: Clock, scan: () => Promise<number>) {
    this.#clock = clock;
    this.#scan = scan;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  after(waitMs: number): void {
    this.#timer?.cancel();
    if (this.#isClosed) return;
    this.#isSoon = waitMs < filesPollMs;
    this.#timer = this.#clock.after(waitMs, () => {
      this.#isSoon = true;
      this.#looking = this.#scan()
        .catch(() => filesPollMs)
        .then((nextMs) => {
          this.after(nextMs);
        });
    });
  }

  hint(): void {
    if (!this.#isSoon) this.after(filesSettleMs);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#looking;
  }
}
