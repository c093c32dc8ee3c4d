import type { ServerResponse } from 'node:http';

import type { LogPosition } from '../../log/log.ts';
import { eventOpenings, type FrameEncoding } from '../../watch/frame.ts';
import type { Ending } from '../../watch/watch-plan.ts';
import type { Connection } from '../../watch/outbox.ts';
import type { Sink } from '../../watch/watcher.ts';
import { errorFrames } from './watch-ending.ts';

const lineEnd = Buffer.from('}\n');
const eventEnd = Buffer.from('}\n\n');

export const jsonLines: FrameEncoding = {
  name: 'json-lines',
  encode: ({ type, object }, into) => {
    into.push(eventOpenings[type], object, lineEnd);
  },
};

/**
 * Encodes events as server-sent events. If an event has a position, the position is its id, so that a client can
 * resume.
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

/** Encodes a position without data. Clients store the id, but dispatch no event. */
function markText(position: LogPosition): string {
  return `id: ${position.toString()}\n\n`;
}

const newline = Buffer.from('\n');

export class StreamConnection implements Connection {
  readonly #res: ServerResponse;

  constructor(res: ServerResponse) {
    this.#res = res;
  }

  write(frames: Uint8Array, onWritten: () => void): void {
    this.#res.write(frames, onWritten);
    // Sends the data at once. Otherwise Node would send the writes after this turn, outside of the turn's time limit.
    this.#res.socket?.uncork();
  }

  cut(): void {
    this.#res.destroy();
  }

  end(): void {
    this.#res.end();
  }
}

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

  /** HTTP has no ping. A dead peer is detected by its unread data. */
  isUnresponsive(): boolean {
    return false;
  }

  closingFrames(ending: Ending): Uint8Array | undefined {
    return errorFrames(ending, this.encoding);
  }
}
