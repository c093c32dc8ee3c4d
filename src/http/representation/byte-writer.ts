export class ByteWriter {
  #bytes: Buffer;
  #length = 0;

  constructor(expectedBytes: number) {
    this.#bytes = Buffer.allocUnsafe(Math.max(expectedBytes, 64));
  }

  get length(): number {
    return this.#length;
  }

  all(bytes: Uint8Array): void {
    this.part(bytes, 0, bytes.length);
  }

  part(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    this.#reserve(length);
    // For a few bytes, a loop is faster than a call of `set`.
    if (length > 24) this.#bytes.set(bytes.subarray(start, end), this.#length);
    else for (let at = 0; at < length; at += 1) this.#bytes[this.#length + at] = bytes[start + at] ?? 0;
    this.#length += length;
  }

  partOr(missing: Uint8Array, bytes: Uint8Array, start = -1, end = -1): void {
    if (start === -1) this.all(missing);
    else this.part(bytes, start, end);
  }

  text(text: string): void {
    this.#reserve(text.length * 3);
    this.#length += this.#bytes.write(text, this.#length, 'utf8');
  }

  /** Returns a view of the buffer. The writer must not be used after this call. */
  written(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    this.#bytes = Buffer.concat([this.#bytes.subarray(0, this.#length)], Math.max(needed, this.#bytes.length * 2));
  }
}
