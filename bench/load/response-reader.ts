/** Called at the end of each response. */
export type ResponseEnd = (status: number, bodyBytes: number) => void;
/** Called for each received part of a body. The next read may overwrite the part. */
export type BodyPart = (part: Buffer) => void;

type State = 'head' | 'body' | 'chunk-size' | 'chunk' | 'trailer';

/**
 * Reads HTTP/1.1 responses of one keep-alive connection. Parses only the parts that a load generator needs: the status
 * and the end of the body (Content-Length or chunks). Skips bodies, or stores them on request.
 */
export class ResponseReader {
  readonly #onEnd: ResponseEnd;
  readonly #onPart: BodyPart | undefined;
  #state: State = 'head';
  #status = 0;
  /** The unread bytes of the body, or of the current chunk and its line end. */
  #missing = 0;
  #bodyBytes = 0;
  /** The received bytes of an incomplete head, or of an incomplete line of a chunk. */
  #rest: Buffer | undefined;
  /** The bytes of the bodies; undefined if they are not stored. */
  kept: Buffer[] | undefined;

  constructor(onEnd: ResponseEnd, onPart?: BodyPart) {
    this.#onEnd = onEnd;
    this.#onPart = onPart;
  }

  read(received: Buffer): void {
    let chunk = received;
    if (this.#rest !== undefined) {
      chunk = Buffer.concat([this.#rest, received]);
      this.#rest = undefined;
    }
    let at = 0;
    while (at < chunk.length) {
      const next = this.#step(chunk, at);
      if (next === -1) {
        this.#rest = at === 0 ? chunk : chunk.subarray(at);
        return;
      }
      at = next;
    }
  }

  /** Reads one part from offset `at`. Returns the offset of the next part, or -1 if this part is incomplete. */
  #step(chunk: Buffer, at: number): number {
    switch (this.#state) {
      case 'head':
        return this.#head(chunk, at);
      case 'body':
        return this.#body(chunk, at);
      case 'chunk-size':
        return this.#chunkSize(chunk, at);
      case 'chunk':
        return this.#chunk(chunk, at);
      case 'trailer':
        return this.#trailer(chunk, at);
    }
  }

  #head(chunk: Buffer, at: number): number {
    const end = chunk.indexOf('\r\n\r\n', at, 'latin1');
    if (end === -1) return -1;
    const head = chunk.toString('latin1', at, end + 2);
    this.#status = Number(head.slice(9, 12));
    this.#bodyBytes = 0;
    const length = /\r\ncontent-length: *(\d+)\r\n/iu.exec(head);
    if (length !== null) {
      this.#missing = Number(length[1]);
      this.#state = 'body';
    } else if (/\r\ntransfer-encoding: *chunked\r\n/iu.test(head)) {
      this.#state = 'chunk-size';
    } else {
      this.#missing = 0;
      this.#state = 'body';
    }
    if (this.#state === 'body' && this.#missing === 0) this.#end();
    return end + 4;
  }

  #body(chunk: Buffer, at: number): number {
    const consumed = Math.min(this.#missing, chunk.length - at);
    this.#take(chunk, at, consumed);
    this.#missing -= consumed;
    if (this.#missing === 0) this.#end();
    return at + consumed;
  }

  #chunkSize(chunk: Buffer, at: number): number {
    const end = chunk.indexOf('\r\n', at, 'latin1');
    if (end === -1) return -1;
    const size = parseInt(chunk.toString('latin1', at, end), 16);
    if (Number.isNaN(size))
      throw new Error(
        'the size of a chunk must be hexadecimal, got ' +
          JSON.stringify(chunk.toString('latin1', at, Math.min(end, at + 20))),
      );
    this.#missing = size + 2;
    this.#state = size === 0 ? 'trailer' : 'chunk';
    return end + 2;
  }

  #chunk(chunk: Buffer, at: number): number {
    const consumed = Math.min(this.#missing, chunk.length - at);
    this.#take(chunk, at, Math.min(consumed, Math.max(this.#missing - 2, 0)));
    this.#missing -= consumed;
    if (this.#missing === 0) this.#state = 'chunk-size';
    return at + consumed;
  }

  #trailer(chunk: Buffer, at: number): number {
    if (chunk.length - at < 2) return -1;
    this.#end();
    return at + 2;
  }

  #take(chunk: Buffer, at: number, length: number): void {
    this.#bodyBytes += length;
    this.kept?.push(Buffer.from(chunk.subarray(at, at + length)));
    if (length > 0) this.#onPart?.(chunk.subarray(at, at + length));
  }

  #end(): void {
    this.#state = 'head';
    this.#onEnd(this.#status, this.#bodyBytes);
  }
}
