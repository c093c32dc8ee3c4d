/** A queue with `push` and `shift` in amortized constant time. An array's `shift` moves all remaining items. */
export class Fifo<T> {
  readonly #items: (T | undefined)[] = [];
  /** The index of the first item; earlier slots are empty. */
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  peek(): T | undefined {
    return this.#items[this.#head];
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (this.length === 0) return undefined;
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.#head * 2 > this.#items.length && this.#head >= compactAt) {
      this.#items.splice(0, this.#head);
      this.#head = 0;
    } else if (this.length === 0) {
      this.#items.length = 0;
      this.#head = 0;
    }
    return item;
  }
}

/**
 * The minimum number of empty slots that `shift` removes while the queue has items. Removing fewer slots costs more
 * than it saves.
 */
const compactAt = 32;
