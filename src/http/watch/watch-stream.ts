import type { ServerResponse } from 'node:http';

import type { LogPosition } from '../../log/log.ts';
import { eventOpenings, type FrameEncoding } from '../../watch/frame.ts';
import type { Ending } from '../../watch/watch-plan.ts';
import type { Connection } from '../../watch/outbox.ts';
import type { Sink } from '../../watch/watcher.ts';
import { errorFrames } from './watch-ending.ts';

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

/** An endless HTTP answer. */
export class StreamConnection implements Connection {
  readonly #res: ServerResponse;

  constructor(res: ServerResponse) {
    this.#res = res;
  }

  write(frames: Uint8Array, taken: () => void): void {
    this.#res.write(frames, taken);
    // Otherwise all writes of a turn reach the system after it, when nobody looks at the time any more.
    this.#res.socket?.uncork();
  }

  cut(): void {
    this.#res.destroy();
  }

  /** Cleanly, so that the peer knows it has whole events and resumes after the last. */
  end(): void {
    this.#res.end();
  }
}

/** A watch as one endless HTTP answer. */
export class StreamSink extends StreamConnection implements Sink {
  readonly encoding: FrameEncoding;

  constructor(res: ServerResponse, encoding: FrameEncoding) {
    super(res);
    this.encoding = encoding;
  }

  keepAlive(_now: number, cursor: LogPosition | undefined): Uint8Array {
    if (this.encoding !== serverSentEvents) return newline;
    return Buffer.from(cursor === undefined ? ':\n\n' : `:\n${markText(cursor)}`, 'latin1');
  }

  /** HTTP has no question to ask: a peer that is gone is found by what it does not take. */
  isUnresponsive(): boolean {
    return false;
  }

  farewell(ending: Ending): Uint8Array | undefined {
    return errorFrames(ending, this.encoding);
  }
}
