/** A queue whose ends cost the same however long it is: an array's `shift` moves all that follow. */
export class Fifo<T> {
  readonly #items: (T | undefined)[] = [];
  /** Where the first item is; everything before it has been taken. */
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

/** Below it moving what is left costs more than the places it frees. */
const compactAt = 32;
