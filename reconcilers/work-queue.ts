import type { CausingEvent } from '../src/command/event.ts';

/**
 * A queue of keys to process, as in client-go's `util/workqueue`. A key that is enqueued repeatedly while it waits is
 * processed once. A key that is enqueued while its step runs is processed again after the step.
 */
export class WorkQueue {
  /** The keys of `#dirty` that are not in `#processing`, each once, first in, first out. */
  readonly #ready = new Fifo();
  /**
   * The keys that were enqueued after their last step started, with the last cause. Another step follows for each key.
   */
  readonly #dirty = new Map<string, CausingEvent | undefined>();
  /** The keys with a running step, with the cause of the step. No second step of such a key starts. */
  readonly #processing = new Map<string, CausingEvent | undefined>();

  /** The number of keys that can be taken. */
  get ready(): number {
    return this.#ready.size;
  }

  /** The number of keys that wait for a slot or for the end of their running step. */
  get depth(): number {
    return this.#dirty.size;
  }

  /** The number of keys with a running step. */
  get held(): number {
    return this.#processing.size;
  }

  add(key: string, cause?: CausingEvent): void {
    const isWaiting = this.#dirty.has(key);
    if (!isWaiting || cause !== undefined) this.#dirty.set(key, cause);
    if (!isWaiting && !this.#processing.has(key)) this.#ready.push(key);
  }

  /** Takes the key that has waited longest, and records its step as running until `done`. */
  take(): string | undefined {
    const key = this.#ready.shift();
    if (key === undefined) return undefined;
    this.#processing.set(key, this.#dirty.get(key));
    this.#dirty.delete(key);
    return key;
  }

  /** The event that caused the running step of the key. */
  causeOf(key: string): CausingEvent | undefined {
    return this.#processing.get(key);
  }

  /** The event that causes the next step of the key. */
  nextCauseOf(key: string): CausingEvent | undefined {
    return this.#dirty.get(key);
  }

  done(key: string): void {
    this.#processing.delete(key);
    if (this.#dirty.has(key)) this.#ready.push(key);
  }

  /** Drops the waiting keys, but not the keys with a running step. */
  clear(): void {
    this.#ready.clear();
    this.#dirty.clear();
  }
}

/**
 * A first-in-first-out array. The consumed front is removed only occasionally, so that `shift` is cheap at any length.
 */
class Fifo {
  /** The waiting keys from `#head` on. The keys before `#head` were taken. */
  #keys: string[] = [];
  #head = 0;

  get size(): number {
    return this.#keys.length - this.#head;
  }

  push(key: string): void {
    this.#keys.push(key);
  }

  shift(): string | undefined {
    const key = this.#keys[this.#head];
    if (key === undefined) return undefined;
    this.#head += 1;
    if (this.#head === this.#keys.length) this.clear();
    else if (this.#head >= 1_024 && this.#head * 2 > this.#keys.length) this.#compact();
    return key;
  }

  clear(): void {
    this.#keys = [];
    this.#head = 0;
  }

  #compact(): void {
    this.#keys = this.#keys.slice(this.#head);
    this.#head = 0;
  }
}
