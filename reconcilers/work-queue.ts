import type { CausingEvent } from '../src/command/event.ts';

/**
 * A queue of keys to process, as in client-go's `util/workqueue`. A key enqueued while it waits stays one key; a key
 * enqueued while it is held is processed once more afterwards. It knows neither time nor leadership. Each key has the
 * last event that enqueued it, if any.
 */
export class WorkQueue {
  /** The keys of `#dirty` that are not in `#processing`, each once; first in, first out. */
  readonly #ready = new Fifo();
  /** Keys that were enqueued since their last step started, with the cause: another step follows for each. */
  readonly #dirty = new Map<string, CausingEvent | undefined>();
  /** Keys that a step holds, with its cause: no second step of such a key starts. */
  readonly #processing = new Map<string, CausingEvent | undefined>();

  /** The number of keys that can be taken. */
  get ready(): number {
    return this.#ready.size;
  }

  /** The number of keys that wait for a slot, or for the end of the step that holds them. */
  get depth(): number {
    return this.#dirty.size;
  }

  /** The number of held keys. */
  get held(): number {
    return this.#processing.size;
  }

  add(key: string, cause?: CausingEvent): void {
    const isWaiting = this.#dirty.has(key);
    if (!isWaiting || cause !== undefined) this.#dirty.set(key, cause);
    if (!isWaiting && !this.#processing.has(key)) this.#ready.push(key);
  }

  /** Takes the key that has waited longest, and holds it until `done`. */
  take(): string | undefined {
    const key = this.#ready.shift();
    if (key === undefined) return undefined;
    this.#processing.set(key, this.#dirty.get(key));
    this.#dirty.delete(key);
    return key;
  }

  /** The event that caused the step that holds the key. */
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

  /** Drops waiting keys. Held keys stay held. */
  clear(): void {
    this.#ready.clear();
    this.#dirty.clear();
  }
}

/**
 * A first-in-first-out array that drops its consumed front from time to time, so that taking the first element is cheap
 * at any length.
 */
class Fifo {
  /** Waiting keys from `#head` on. */
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
