import { MalformedWatchError } from './decode-answer.ts';

/** The maximum length of a line, in bytes: more than five times the maximum size of a stored object (786,432 bytes). */
export const lineBytesMax = 4_194_304;

const lineFeed = 0x0a;

/** Splits a stream of byte chunks into lines of text. */
export class LineSplitter {
  /** Decodes whole lines without the option `stream`, because engines decode several times faster without state. */
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  /** The parts of an incomplete line. The parts are joined once, so that a long line is not copied for each chunk. */
  #parts: Uint8Array[] = [];
  #length = 0;

  /** Returns the lines that end in this chunk. Empty lines, which are keep-alives, are dropped. */
  push(chunk: Uint8Array): readonly string[] {
    const end = chunk.lastIndexOf(lineFeed);
    if (end < 0) {
      this.#keep(chunk);
      return [];
    }
    const text = this.#decoded(this.#joined(chunk.subarray(0, end)));
    this.#keep(chunk.subarray(end + 1));
    const lines = text.split('\n').filter((line) => line !== '');
    if (lines.some((line) => line.length > lineBytesMax)) throw tooLong();
    return lines;
  }

  #keep(part: Uint8Array): void {
    this.#length += part.length;
    if (this.#length > lineBytesMax) throw tooLong();
    if (part.length > 0) this.#parts.push(part);
  }

  #joined(last: Uint8Array): Uint8Array {
    if (this.#parts.length === 0) return last;
    const bytes = new Uint8Array(this.#length + last.length);
    let at = 0;
    for (const part of [...this.#parts, last]) {
      bytes.set(part, at);
      at += part.length;
    }
    this.#parts = [];
    this.#length = 0;
    return bytes;
  }

  #decoded(bytes: Uint8Array): string {
    try {
      return this.#decoder.decode(bytes);
    } catch {
      throw new MalformedWatchError('the watch is not UTF-8');
    }
  }
}

function tooLong(): MalformedWatchError {
  return new MalformedWatchError(`a line of the watch is longer than ${String(lineBytesMax)} bytes`);
}
