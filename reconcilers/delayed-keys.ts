import type { Clock, Timer } from '../src/base/clock.ts';
import { Slices } from '../src/base/slices.ts';
import type { CausingEvent } from '../src/command/event.ts';
import { reconcileSleepMsMax } from './reconcile-limits.ts';

/** `dueMs`: a time on the monotonic clock. `cause`: the last event that enqueued the key. */
type Due = {
  readonly key: string;
  readonly dueMs: number;
  cause: CausingEvent | undefined;
};

type HeapChild = {
  readonly place: number;
  readonly entry: Due;
};

/** Delayed keys that share one timer. */
export class DelayedKeys {
  readonly #clock: Clock;
  readonly #onDue: (key: string, cause: CausingEvent | undefined) => void;
  readonly #due = new Map<string, Due>();
  /** A binary heap by time. An entry that is not in `#due` is obsolete: its key got an earlier time. */
  #heap: Due[] = [];
  #timer: (Timer & { readonly dueMs: number }) | undefined;

  constructor(clock: Clock, onDue: (key: string, cause: CausingEvent | undefined) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  get size(): number {
    return this.#due.size;
  }

  /** Adds a delayed key. If the key is delayed already, the earlier time applies. */
  add(key: string, delayMs: number, cause?: CausingEvent): void {
    const dueMs = this.#clock.monotonic() + Math.max(0, delayMs);
    const present = this.#due.get(key);
    if (present !== undefined && cause !== undefined) present.cause = cause;
    if (present !== undefined && present.dueMs <= dueMs) return;
    const entry = { key, dueMs, cause: cause ?? present?.cause };
    this.#due.set(key, entry);
    this.#push(entry);
    this.#wait();
  }

  /** Sets the cause of a key's delayed step, because a later event has also enqueued the key. */
  setCause(key: string, cause: CausingEvent): void {
    const present = this.#due.get(key);
    if (present !== undefined) present.cause = cause;
  }

  /** The time of the key's step on the monotonic clock; undefined if the key is not delayed. */
  dueOf(key: string): number | undefined {
    return this.#due.get(key)?.dueMs;
  }

  causeOf(key: string): CausingEvent | undefined {
    return this.#due.get(key)?.cause;
  }

  clear(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#due.clear();
    this.#heap = [];
  }

  #wait(): void {
    const first = this.#heap[0];
    if (first === undefined || (this.#timer !== undefined && this.#timer.dueMs <= first.dueMs)) return;
    this.#timer?.cancel();
    const timer = this.#clock.after(
      Math.min(Math.max(0, first.dueMs - this.#clock.monotonic()), reconcileSleepMsMax),
      () => {
        this.#ring();
      },
    );
    this.#timer = {
      dueMs: first.dueMs,
      cancel: () => {
        timer.cancel();
      },
    };
  }

  #ring(): void {
    this.#timer = undefined;
    const now = this.#clock.monotonic();
    const slices = new Slices(this.#clock);
    // Very many keys may be due at the same time, so the keys after the slice wait for another turn.
    for (let first = this.#heap[0]; first !== undefined && first.dueMs <= now; first = this.#heap[0]) {
      if (slices.isOver()) break;
      this.#pop();
      if (this.#due.get(first.key) !== first) continue;
      this.#due.delete(first.key);
      this.#onDue(first.key, first.cause);
    }
    this.#wait();
  }

  #push(entry: Due): void {
    let place = this.#heap.push(entry) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = this.#heap[parent];
      if (above === undefined || above.dueMs <= entry.dueMs) break;
      this.#heap[place] = above;
      place = parent;
    }
    this.#heap[place] = entry;
  }

  #pop(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    let place = 0;
    for (let child = this.#earlierChild(place); child !== undefined; child = this.#earlierChild(place)) {
      if (child.entry.dueMs >= last.dueMs) break;
      this.#heap[place] = child.entry;
      place = child.place;
    }
    this.#heap[place] = last;
  }

  #earlierChild(place: number): HeapChild | undefined {
    const [left, right] = [this.#heap[place * 2 + 1], this.#heap[place * 2 + 2]];
    if (left === undefined) return undefined;
    return right !== undefined && right.dueMs < left.dueMs
      ? { place: place * 2 + 2, entry: right }
      : { place: place * 2 + 1, entry: left };
  }
}
