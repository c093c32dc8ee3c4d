import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';

import { eventOpenings, type FrameEncoding } from '../../watch/frame.ts';
import type { Ending } from '../../watch/watch-plan.ts';
import type { Sink } from '../../watch/watcher.ts';
import { closeReason, pingFrame, Pings } from '../connection/socket-upgrades.ts';
import { endings, errorFrames } from './watch-ending.ts';

const textFrame = 0x81;
export const binaryFrame = 0x82;
const frameEnd = Buffer.from('}');

/** Encodes each event as one unmasked text frame (RFC 6455, 5.2), once for all watchers. */
export const webSocketFrames: FrameEncoding = {
  name: 'websocket',
  encode: ({ type, object }, into) => {
    const opening = eventOpenings[type];
    into.push(frameHeader(opening.length + object.length + frameEnd.length), opening, object, frameEnd);
  },
};

/** Returns the header of a frame. `opening` is the first byte of the frame. */
export function frameHeader(payloadBytes: number, opening = textFrame): Buffer {
  if (payloadBytes < 126) return Buffer.from([opening, payloadBytes]);
  if (payloadBytes < 65_536) return Buffer.from([opening, 126, payloadBytes >> 8, payloadBytes & 0xff]);
  const header = Buffer.alloc(10);
  header[0] = opening;
  header[1] = 127;
  header.writeUIntBE(payloadBytes, 4, 6);
  return header;
}

/**
 * A watch over a WebSocket. Writes only whole frames, because the library may write a control frame after each write.
 */
export class SocketSink implements Sink {
  readonly encoding: FrameEncoding;
  readonly #webSocket: WebSocket;
  readonly #socket: Duplex;
  readonly #pings: Pings;

  constructor(webSocket: WebSocket, socket: Duplex, encoding = webSocketFrames) {
    this.encoding = encoding;
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#pings = new Pings(webSocket);
  }

  write(frames: Uint8Array, onWritten: () => void): void {
    // No data may follow a close frame.
    if (this.#webSocket.readyState === WebSocket.OPEN) this.#socket.write(frames, onWritten);
    else onWritten();
  }

  cut(): void {
    this.#webSocket.terminate();
  }

  keepAlive(now: number): Uint8Array {
    this.#pings.asked(now);
    return pingFrame;
  }

  isUnresponsive(now: number): boolean {
    return this.#pings.areUnanswered(now);
  }

  closingFrames(ending: Ending): Uint8Array | undefined {
    return errorFrames(ending, this.encoding);
  }

  end({ reason, detail }: Ending): void {
    this.#webSocket.close(endings[reason].closeCode, closeReason(detail));
  }
}
