import { watchStreamEndMs } from '../limits/watches.ts';
import type { ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';

import type { Clock } from '../base/clock.ts';
import type { LogPosition } from '../log/log.ts';
import { eventOpenings, type FrameEncoding } from '../watch/frame.ts';
import type { Ending } from '../watch/watch-plan.ts';
import type { Sink } from '../watch/watcher.ts';
import { errorEvent } from './watch-ending.ts';

const lineEnd = Buffer.from('}\n');
const eventEnd = Buffer.from('}\n\n');

/** One event a line. */
export const jsonLines: FrameEncoding = {
  name: 'json-lines',
  encode: ({ type, object }, into) => { into.push(eventOpenings[type], object, lineEnd); },
};

/** Events without a name, each with the position to resume after. JSON on one line needs no splitting. */
export const serverSentEvents: FrameEncoding = {
  name: 'server-sent-events',
  encode: ({ type, object, position }, into) => {
    into.push(Buffer.from(`${position === undefined ? '' : `id: ${position.toString()}\n`}data: `, 'latin1'), eventOpenings[type], object, eventEnd);
  },
  mark: (position, into) => { into.push(Buffer.from(markText(position), 'latin1')); },
};

/** An id without data is remembered by the client and shown to nobody. */
function markText(position: LogPosition): string {
  return `id: ${position.toString()}\n\n`;
}

const newline = Buffer.from('\n');

/** A watch as one endless HTTP answer. */
export class StreamSink implements Sink {
  readonly encoding: FrameEncoding;
  readonly #res: ServerResponse;
  readonly #clock: Clock;

  constructor(res: ServerResponse, encoding: FrameEncoding, clock: Clock) {
    this.#res = res;
    this.encoding = encoding;
    this.#clock = clock;
  }

  write(frames: Uint8Array): void {
    this.#res.write(frames);
  }

  bufferedBytes(): number {
    return this.#res.writableLength;
  }

  drained(): Promise<void> | undefined {
    return drainOf(this.#res);
  }

  /** What is not read yet keeps the connection busy by itself. */
  keepAlive(_now: number, cursor: LogPosition | undefined): void {
    if (this.#res.writableLength > 0) return;
    if (this.encoding !== serverSentEvents) this.#res.write(newline);
    else this.#res.write(cursor === undefined ? ':\n\n' : `:\n${markText(cursor)}`);
  }

  /** HTTP has no question to ask: a peer that is gone is found by what it does not take. */
  isUnresponsive(): boolean {
    return false;
  }

  /** Cleanly whenever the peer still reads, so that it knows it has whole events and resumes after the last. */
  end(ending: Ending): void {
    const error = errorEvent(ending);
    if (error !== undefined) {
      const parts: Uint8Array[] = [];
      this.encoding.encode(error, parts);
      this.#res.write(Buffer.concat(parts));
    }
    this.#res.end();
    const timer = this.#clock.after(watchStreamEndMs, () => { this.#res.destroy(); });
    this.#res.once('close', () => { timer.cancel(); });
  }
}

/** Undefined when the stream takes more; otherwise resolves when it does, or when it is closed. */
export function drainOf(stream: Writable): Promise<void> | undefined {
  if (!stream.writableNeedDrain || stream.closed) return undefined;
  return new Promise((resolve) => {
    const settle = (): void => {
      stream.off('drain', settle);
      stream.off('close', settle);
      resolve();
    };
    stream.once('drain', settle);
    stream.once('close', settle);
  });
}
