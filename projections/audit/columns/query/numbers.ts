/** A growing list of numbers, outside of the heap. */
export class Numbers {
  #numbers = new Float64Array(1_024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(number: number): void {
    if (this.#length === this.#numbers.length) {
      const larger = new Float64Array(this.#length * 2);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[this.#length] = number;
    this.#length += 1;
  }

  /** The number at a place below `length`. */
  at(place: number): number {
    return this.#numbers[place] ?? NaN;
  }
}
