/** Thrown if a text is not JSON in the form of `JSON.stringify`, or not the expected value. */
export class FormError extends Error {
  override readonly name = 'FormError';
}

/**
 * Matches characters and escapes of a string as `JSON.stringify` writes them. The number of escapes is limited, because
 * each repetition takes memory.
 */
const content = /[^"\\\0-\x1f]*(?:\\(?:["\\bfnrt]|u00(?:0[0-7bef]|1[\da-f]))[^"\\\0-\x1f]*){0,512}/y;
const digits = /0|[1-9]\d{0,15}/y;

/**
 * Reads values from JSON in the form of `JSON.stringify`. The caller requests each value in the expected order. There
 * is no recursion, so nested input cannot exhaust the stack.
 */
export class CanonicalJson {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#text.length;
  }

  isNext(expected: string): boolean {
    return this.#text.startsWith(expected, this.#at);
  }

  /**
   * Moves to the character after `expected`.
   *
   * @throws FormError unless `expected` is next.
   */
  skip(expected: string): this {
    if (!this.isNext(expected)) throw new FormError(`${expected} is expected`);
    this.#at += expected.length;
    return this;
  }

  /**
   * Returns a decoded string.
   *
   * @throws FormError unless a string is next.
   */
  string(): string {
    const [text, begin] = [this.#text, this.#at];
    let end = this.skip('"').#at;
    for (let from = -1; end > from && text[end] !== '"';) {
      [content.lastIndex, from] = [end, end];
      content.test(text);
      end = content.lastIndex;
    }
    this.#at = end;
    this.skip('"');
    const quoted = text.slice(begin, end + 1);
    return quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
  }

  /**
   * Returns a whole number from 0 to `Number.MAX_SAFE_INTEGER`.
   *
   * @throws FormError unless such a number is next.
   */
  count(): number {
    digits.lastIndex = this.#at;
    const count = Number(digits.exec(this.#text)?.[0]);
    if (!Number.isSafeInteger(count)) throw new FormError('a count is expected');
    this.#at = digits.lastIndex;
    return count;
  }
}
