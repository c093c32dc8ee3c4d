import { ResponseReader } from './response-reader.ts';

const lineFeed = 10;

/**
 * Counts the lines of a streamed response body. In a watch over HTTP, each change is one line. Empty lines only keep
 * the connection alive, and are not counted.
 */
export class LineCounter {
  readonly #reader: ResponseReader;
  readonly #onLine: () => void;
  /** The bytes of the body; undefined if they are not stored. */
  kept: Buffer[] | undefined;
  /** Whether the current line has a byte. */
  #isBegun = false;

  constructor(events: { line(): void; end(): void }) {
    this.#onLine = () => {
      events.line();
    };
    this.#reader = new ResponseReader(
      () => {
        events.end();
      },
      (part) => {
        this.#count(part);
      },
    );
  }

  /** Reads the next bytes of the response, which begins with its head. */
  read(chunk: Buffer): void {
    this.#reader.read(chunk);
  }

  #count(part: Buffer): void {
    this.kept?.push(Buffer.from(part));
    let begin = 0;
    for (let end = part.indexOf(lineFeed); end !== -1; end = part.indexOf(lineFeed, begin)) {
      if (this.#isBegun || end > begin) this.#onLine();
      this.#isBegun = false;
      begin = end + 1;
    }
    if (begin < part.length) this.#isBegun = true;
  }
}
