import { must } from '../src/base/unreachable.ts';
import { answerStart } from './row.ts';

const comma = 0x2c;
/** The number of bytes that the first buffer reserves for each expected response. */
const answerBytesExpected = 1_024;

/**
 * The response JSON of several rows, joined with commas. `add` copies the row. All responses are in one buffer, because
 * a million buffers would make a garbage collection take tenths of a second.
 */
export class JoinedAnswers {
  #bytes: Buffer;
  #length = 0;
  /** The offset in `#bytes` at which each response starts. */
  readonly #starts: number[] = [];

  constructor(expected: number) {
    this.#bytes = Buffer.allocUnsafe(Math.max(expected * answerBytesExpected, 64));
  }

  get count(): number {
    return this.#starts.length;
  }

  get length(): number {
    return this.#length;
  }

  add(row: Buffer): void {
    const from = answerStart(row);
    const needed = this.#length + 1 + row.length - from;
    if (needed > this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes.subarray(0, this.#length)], Math.max(needed, this.#bytes.length * 2));
    }
    if (this.#length > 0) this.#bytes[this.#length++] = comma;
    this.#starts.push(this.#length);
    this.#length += row.copy(this.#bytes, this.#length, from);
  }

  joined(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  each(): readonly Buffer[] {
    return this.#starts.map((start, index) => this.#bytes.subarray(start, this.#endOf(index)));
  }

  #endOf(index: number): number {
    return index + 1 === this.count ? this.#length : must(this.#starts[index + 1], 'a later object has a start') - 1;
  }
}
