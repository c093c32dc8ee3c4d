import { MalformedWatchError } from './decode-answer.ts';

/** UTF-16 units of one line: a stored object has at most 786,432 bytes. */
export const lineLengthMax = 4_194_304;

/** Cuts a stream of bytes, split anywhere, into lines of text. */
export class LineSplitter {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  /** The parts of a line without its end. They are joined once, so that a long line is not copied for each chunk. */
  #parts: string[] = [];
  #length = 0;

  /** The lines that end in this chunk, without empty ones: those keep the connection alive. */
  push(chunk: Uint8Array): readonly string[] {
    const text = this.#decoded(chunk);
    const lines: string[] = [];
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      this.#add(text.slice(start, end));
      if (this.#length > 0) lines.push(this.#parts.join(''));
      this.#parts = [];
      this.#length = 0;
      start = end + 1;
    }
    this.#add(text.slice(start));
    return lines;
  }

  #add(part: string): void {
    this.#length += part.length;
    if (this.#length > lineLengthMax)
      throw new MalformedWatchError(`a line of the watch is longer than ${String(lineLengthMax)} characters`);
    if (part !== '') this.#parts.push(part);
  }

  #decoded(chunk: Uint8Array): string {
    try {
      return this.#decoder.decode(chunk, { stream: true });
    } catch {
      throw new MalformedWatchError('the watch is not UTF-8');
    }
  }
}
