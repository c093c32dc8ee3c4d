import type { Clock } from '../src/base/clock.ts';
import { reconcileFailureReportMs, reconcileFailuresKnownMax, reconcileLinesPerSecondMax } from './reconcile-limits.ts';

type Fields = Readonly<Record<string, unknown>>;

type FailedStep = {
  readonly key: string;
  readonly attempts: number;
};

/**
 * Limits the log lines about one reconciler, since many keys may fail at the same time, and one key may fail
 * repeatedly.
 */
export class FailureLines {
  readonly #clock: Clock;
  readonly #write: (message: string, fields: Fields) => void;
  /**
   * `lines`: the number of lines written in the second that began at `sinceMs`. `leftOut`: the number of lines
   * suppressed since the last written line.
   */
  #currentSecond = { sinceMs: -Infinity, lines: 0, leftOut: 0 };
  /**
   * By key: the time of the last line, and the number of consecutive failures at that time. The latest line is last.
   */
  readonly #keys = new Map<string, { readonly atMs: number; readonly attempts: number }>();

  constructor(clock: Clock, write: (message: string, fields: Fields) => void) {
    this.#clock = clock;
    this.#write = write;
  }

  /**
   * Logs the first failure of a key, then the second, fourth, eighth … consecutive failure. A key that recovers and
   * fails again is logged at most once in `reconcileFailureReportMs`.
   */
  failed(message: string, { key, attempts }: FailedStep, fields: () => Fields): void {
    const [now, last] = [this.#clock.monotonic(), this.#keys.get(key)];
    const isLogged =
      last === undefined ||
      (attempts > last.attempts ? isPowerOfTwo(attempts) : now - last.atMs >= reconcileFailureReportMs);
    if (!isLogged) return;
    this.#keys.delete(key);
    this.#keys.set(key, { atMs: now, attempts });
    for (const [oldest] of this.#keys) {
      if (this.#keys.size <= reconcileFailuresKnownMax) break;
      this.#keys.delete(oldest);
    }
    this.log(message, fields());
  }

  /**
   * Writes at most `reconcileLinesPerSecondMax` lines per second. The next line contains the number of suppressed
   * lines.
   */
  log(message: string, fields: Fields): void {
    const now = this.#clock.monotonic();
    if (now - this.#currentSecond.sinceMs >= 1_000)
      this.#currentSecond = { sinceMs: now, lines: 0, leftOut: this.#currentSecond.leftOut };
    if (this.#currentSecond.lines >= reconcileLinesPerSecondMax) {
      this.#currentSecond.leftOut += 1;
      return;
    }
    const { leftOut } = this.#currentSecond;
    this.#currentSecond.lines += 1;
    this.#currentSecond.leftOut = 0;
    this.#write(message, { ...fields, ...(leftOut === 0 ? {} : { leftOut }) });
  }
}

function isPowerOfTwo(count: number): boolean {
  return (count & (count - 1)) === 0;
}
