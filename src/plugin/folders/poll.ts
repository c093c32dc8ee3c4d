import type { Clock, Timer } from '../../base/clock.ts';
import { filesPollMs, filesSettleMs } from '../lifecycle/life-limits.ts';

/** Looks again and again, one look at a time: what the file system tells is only a hint to look sooner than the next poll. */
export class Poll {
  readonly #clock: Clock;
  readonly #look: () => Promise<number>;
  #timer: Timer | undefined;
  #isClosed = false;
  #looking: Promise<void> = Promise.resolve();
  /** A look is under way or about to be: a hint changes nothing, so that files that never rest hold no look up. */
  #isSoon = false;

  /** `look` answers how long until the next one; one that throws is taken after a poll's time again. */
  constructor(clock: Clock, look: () => Promise<number>) {
    this.#clock = clock;
    this.#look = look;
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
      this.#looking = this.#look().catch(() => filesPollMs).then((nextMs) => { this.after(nextMs); });
    });
  }

  hint(): void {
    if (!this.#isSoon) this.after(filesSettleMs);
  }

  /** Resolves once no look is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#looking;
  }
}
