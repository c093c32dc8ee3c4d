/**
 * Keys to be looked at, as in client-go's `util/workqueue`. A key enqueued while it waits is one key; a key enqueued while it is
 * held is looked at once more after that. It knows neither time nor who leads.
 */
export class WorkQueue {
  /** First in, first out. Exactly the keys of `dirty` that are not in `processing`, each once. */
  readonly #ready = new Fifo();
  /** Enqueued since its last step began: a step begins after each of them. */
  readonly #dirty = new Set<string>();
  /** Held by a step: no second one of the key begins. */
  readonly #processing = new Set<string>();

  /** Keys that wait to be taken. */
  get ready(): number {
    return this.#ready.size;
  }

  /** Keys that wait, for their turn or for the end of the step that holds them. */
  get depth(): number {
    return this.#dirty.size;
  }

  /** Keys that are held. */
  get held(): number {
    return this.#processing.size;
  }

  add(key: string): void {
    if (this.#dirty.has(key)) return;
    this.#dirty.add(key);
    if (!this.#processing.has(key)) this.#ready.push(key);
  }

  /** The key that waited longest, held from now until `done`. */
  take(): string | undefined {
    const key = this.#ready.shift();
    if (key === undefined) return undefined;
    this.#processing.add(key);
    this.#dirty.delete(key);
    return key;
  }

  done(key: string): void {
    this.#processing.delete(key);
    if (this.#dirty.has(key)) this.#ready.push(key);
  }

  /** Forgets what waits. What is held stays held. */
  clear(): void {
    this.#ready.clear();
    this.#dirty.clear();
  }
}

/** An array whose taken front is cut off now and then, so that taking the first costs the same at any length. */
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
    else if (this.#head >= 1_024 && this.#head * 2 > this.#keys.length) this.#cut();
    return key;
  }

  clear(): void {
    this.#keys = [];
    this.#head = 0;
  }

  #cut(): void {
    this.#keys = this.#keys.slice(this.#head);
    this.#head = 0;
  }
}
