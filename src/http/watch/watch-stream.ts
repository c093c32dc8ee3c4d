import type { ServerResponse } from 'node:http';

import type { LogPosition } from '../../log/log.ts';
import { eventOpenings, type FrameEncoding } from '../../watch/frame.ts';
import type { Ending } from '../../watch/watch-plan.ts';
import type { Connection } from '../../watch/outbox.ts';
import type { Sink } from '../../watch/watcher.ts';
import { errorFrames } from './watch-ending.ts';

const lineEnd = Buffer.from('}\n');
const eventEnd = Buffer.from('}\n\n');

/** One event on each line. */
export const jsonLines: FrameEncoding = {
  name: 'json-lines',
  encode: ({ type, object }, into) => {
    into.push(eventOpenings[type], object, lineEnd);
  },
};

/**
 * Events without a name, each with the position from which to resume. JSON is on one line, so it needs no splitting.
 */
export const serverSentEvents: FrameEncoding = {
  name: 'server-sent-events',
  encode: ({ type, object, position }, into) => {
    into.push(
      Buffer.from(`${position === undefined ? '' : `id: ${position.toString()}\n`}data: `, 'latin1'),
      eventOpenings[type],
      object,
      eventEnd,
    );
  },
  mark: (position, into) => {
    into.push(Buffer.from(markText(position), 'latin1'));
  },
};

/** A position without data: clients store the id, and dispatch no event. */
function markText(position: LogPosition): string {
  return `id: ${position.toString()}\n\n`;
}

const newline = Buffer.from('\n');

/** A streaming HTTP response. */
export class StreamConnection implements Connection {
  readonly #res: ServerResponse;

  constructor(res: ServerResponse) {
    this.#res = res;
  }

  write(frames: Uint8Array, onWritten: () => void): void {
    this.#res.write(frames, onWritten);
    // Without this, all writes of a turn would be sent after it, outside of its time limit.
    this.#res.socket?.uncork();
  }

  cut(): void {
    this.#res.destroy();
  }

  /** Ends the response cleanly: the peer then knows that its events are complete, and resumes after the last one. */
  end(): void {
    this.#res.end();
  }
}

/** A watch as a streaming HTTP response. */
export class StreamSink extends StreamConnection implements Sink {
  readonly encoding: FrameEncoding;

  constructor(res: ServerResponse, encoding: FrameEncoding) {
    super(res);
    this.encoding = encoding;
  }

  keepAlive(_now: number, cursor: LogPosition | undefined): Uint8Array {
    if (this.encoding.mark === undefined) return newline;
    return Buffer.from(cursor === undefined ? ':\n\n' : `:\n${markText(cursor)}`, 'latin1');
  }

  /** False: HTTP has no ping, and a dead peer is detected by unread data. */
  isUnresponsive(): boolean {
    return false;
  }

  closingFrames(ending: Ending): Uint8Array | undefined {
    return errorFrames(ending, this.encoding);
  }
}
