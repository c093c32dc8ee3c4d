/** The handlers of the frames of one WebSocket. `ping` receives the payload for the pong. */
export type FrameEvents = {
  message(): void;
  ping(payload: Buffer): void;
  close(code: number): void;
};

export class FrameCounter {
  readonly #events: FrameEvents;
  /** The received bytes of an incomplete frame header or control frame. */
  #rest: Buffer | undefined;
  /** The payload bytes of the data frame that must still be skipped. */
  #skip = 0;
  /** Whether the data frame ends a message. */
  #final = false;
  /** The payloads of the messages; undefined if they are not stored. */
  kept: Buffer[] | undefined;

  constructor(events: FrameEvents) {
    this.#events = events;
  }

  read(received: Buffer): void {
    let chunk = received;
    if (this.#rest !== undefined) {
      chunk = Buffer.concat([this.#rest, received]);
      this.#rest = undefined;
    }
    let at = 0;
    while (at < chunk.length) {
      const next = this.#skip > 0 ? this.#payload(chunk, at) : this.#header(chunk, at);
      if (next === -1) {
        this.#rest = Buffer.from(chunk.subarray(at));
        return;
      }
      at = next;
    }
  }

  #payload(chunk: Buffer, at: number): number {
    const consumed = Math.min(this.#skip, chunk.length - at);
    this.kept?.push(Buffer.from(chunk.subarray(at, at + consumed)));
    this.#skip -= consumed;
    if (this.#skip === 0 && this.#final) this.#events.message();
    return at + consumed;
  }

  #header(chunk: Buffer, at: number): number {
    if (chunk.length - at < 2) return -1;
    const first = chunk[at] ?? 0;
    const short = (chunk[at + 1] ?? 0) & 0x7f;
    const start = at + (short < 126 ? 2 : short === 126 ? 4 : 10);
    if (chunk.length < start) return -1;
    const length =
      short < 126 ? short : short === 126 ? chunk.readUInt16BE(at + 2) : Number(chunk.readBigUInt64BE(at + 2));
    const opcode = first & 0x0f;
    if (opcode >= 8) return this.#control(chunk, opcode, start, length);
    this.#final = (first & 0x80) !== 0;
    this.#skip = length;
    if (length === 0 && this.#final) this.#events.message();
    return start;
  }

  #control(chunk: Buffer, opcode: number, start: number, length: number): number {
    const end = start + length;
    if (chunk.length < end) return -1;
    if (opcode === 9) this.#events.ping(Buffer.from(chunk.subarray(start, end)));
    if (opcode === 8) this.#events.close(length >= 2 ? chunk.readUInt16BE(start) : 1_005);
    return end;
  }
}

/** A control frame of a client. The protocol requires a mask; a zero mask is sufficient, since no secrecy is needed. */
export function clientFrame(opcode: number, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}
