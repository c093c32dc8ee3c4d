import { ResponseReader } from './response-reader.ts';

const lineFeed = 10;

/** Counts the lines of a response whose body is a stream: each change of a watch over HTTP is one line. */
export class LineCounter {
  readonly #reader: ResponseReader;
  /** The bytes of the body; undefined if they are not stored. */
  kept: Buffer[] | undefined;

  constructor(events: { line(): void; end(): void }) {
    this.#reader = new ResponseReader(
      () => {
        events.end();
      },
      (part) => {
        this.kept?.push(Buffer.from(part));
        for (let at = part.indexOf(lineFeed); at !== -1; at = part.indexOf(lineFeed, at + 1)) events.line();
      },
    );
  }

  /** Reads the response from its head on. */
  read(chunk: Buffer): void {
    this.#reader.read(chunk);
  }
}
