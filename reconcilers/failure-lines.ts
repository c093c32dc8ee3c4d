import type { Clock } from '../src/base/clock.ts';
import { reconcileFailureToldMs, reconcileFailuresKnownMax, reconcileLinesPerSecondMax } from './reconcile-limits.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Lines of the log about one reconciler: a hundred thousand keys may fail at once, and one of them again and again. The metrics count them all. */
export class FailureLines {
  readonly #clock: Clock;
  readonly #write: (message: string, fields: Fields) => void;
  /** Lines told in the second that began then, and what was left out since. */
  #told = { sinceMs: -Infinity, lines: 0, leftOut: 0 };
  /** When each key's failure was told last, and how many it had had in a row; those told last are the last. */
  readonly #keys = new Map<string, { readonly atMs: number; readonly attempts: number }>();

  constructor(clock: Clock, write: (message: string, fields: Fields) => void) {
    this.#clock = clock;
    this.#write = write;
  }

  /** The first of a key, then the second, fourth, eighth … in a row. One that passes and comes back is told once a minute. */
  failed(message: string, { key, attempts }: { readonly key: string; readonly attempts: number }, fields: () => Fields): void {
    const [now, last] = [this.#clock.monotonic(), this.#keys.get(key)];
    const isTold = last === undefined || (attempts > last.attempts ? isPowerOfTwo(attempts) : now - last.atMs >= reconcileFailureToldMs);
    if (!isTold) return;
    this.#keys.delete(key);
    this.#keys.set(key, { atMs: now, attempts });
    for (const [oldest] of this.#keys) {
      if (this.#keys.size <= reconcileFailuresKnownMax) break;
      this.#keys.delete(oldest);
    }
    this.tell(message, fields());
  }

  /** A few lines a second; the next one says how many were left out. */
  tell(message: string, fields: Fields): void {
    const now = this.#clock.monotonic();
    if (now - this.#told.sinceMs >= 1_000) this.#told = { sinceMs: now, lines: 0, leftOut: this.#told.leftOut };
    if (this.#told.lines >= reconcileLinesPerSecondMax) {
      this.#told.leftOut += 1;
      return;
    }
    const { leftOut } = this.#told;
    this.#told.lines += 1;
    this.#told.leftOut = 0;
    this.#write(message, { ...fields, ...(leftOut === 0 ? {} : { leftOut }) });
  }
}

function isPowerOfTwo(count: number): boolean {
  return (count & (count - 1)) === 0;
}
