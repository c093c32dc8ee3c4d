import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';

import { watchClientChunksMax, watchClientFragmentsMax, watchClientFrameBytesMax, watchKeepAliveMs, watchSocketCloseMs } from '../limits.ts';
import { eventOpenings, type FrameEncoding } from '../watch/frame.ts';
import type { Ending } from '../watch/watch-plan.ts';
import type { Sink } from '../watch/watcher.ts';
import { endings, errorEvent } from './watch-ending.ts';
import { drainOf } from './watch-stream.ts';

/** The subprotocol that Kubernetes' clients ask for beside a token. Another one is not confirmed, as it would be a promise. */
const knownSubprotocol = 'base64.binary.k8s.io';

const textFrame = 0x81;
const frameEnd = Buffer.from('}');

/**
 * One unmasked text frame an event (RFC 6455, 5.2), made here once for all watchers: a WebSocket library would make the
 * header and a write for each of them.
 */
export const webSocketFrames: FrameEncoding = {
  name: 'websocket',
  encode: ({ type, object }, into) => {
    const opening = eventOpenings[type];
    into.push(frameHeader(opening.length + object.length + frameEnd.length), opening, object, frameEnd);
  },
};

export function frameHeader(payloadBytes: number): Buffer {
  if (payloadBytes < 126) return Buffer.from([textFrame, payloadBytes]);
  if (payloadBytes < 65_536) return Buffer.from([textFrame, 126, payloadBytes >> 8, payloadBytes & 0xff]);
  const header = Buffer.alloc(10);
  header[0] = textFrame;
  header[1] = 127;
  header.writeUIntBE(payloadBytes, 4, 6);
  return header;
}

const serverOptions = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: watchClientFrameBytesMax,
  maxFragments: watchClientFragmentsMax,
  maxBufferedChunks: watchClientChunksMax,
  /** The library's own timer: it only ever cuts a connection whose peer does not answer a close. */
  closeTimeout: watchSocketCloseMs,
  handleProtocols: (offered: ReadonlySet<string>) => (offered.has(knownSubprotocol) ? knownSubprotocol : false),
} as const;

/** Turns upgrade requests into sockets. */
export class SocketUpgrades {
  readonly #server = new WebSocketServer(serverOptions);
  /** What is wrong with the handshake at hand; undefined between two of them. */
  #refused: string | undefined;

  constructor() {
    // Listened to, the library leaves the answer to us.
    this.#server.on('wsClientError', ({ message }) => { this.#refused = message; });
  }

  /** Calls `opened` within this call, or returns why the handshake is none; the connection is then as it was. */
  accept(req: IncomingMessage, socket: Duplex, head: Buffer, opened: (sink: SocketSink, webSocket: WebSocket) => void): string | undefined {
    this.#refused = undefined;
    this.#server.handleUpgrade(req, socket, head, (webSocket) => {
      // A peer that breaks the protocol is closed with its code by the library, and one that vanishes by `close`.
      webSocket.on('error', () => undefined);
      opened(new SocketSink(webSocket, socket), webSocket);
    });
    return this.#refused;
  }
}

/** A watch over a WebSocket. Frames go to the connection itself, whole, so the library's control frames fall between them. */
export class SocketSink implements Sink {
  readonly encoding = webSocketFrames;
  readonly #webSocket: WebSocket;
  readonly #socket: Duplex;
  /** When the first of the pings was sent that have no answer yet. */
  #unansweredSince: number | undefined;

  constructor(webSocket: WebSocket, socket: Duplex) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    webSocket.on('pong', () => { this.#unansweredSince = undefined; });
  }

  write(frames: Uint8Array): void {
    // Nothing may follow a close frame.
    if (this.#webSocket.readyState === WebSocket.OPEN) this.#socket.write(frames);
  }

  bufferedBytes(): number {
    return this.#socket.writableLength;
  }

  drained(): Promise<void> | undefined {
    return drainOf(this.#socket);
  }

  keepAlive(now: number): void {
    this.#unansweredSince ??= now;
    if (this.#webSocket.readyState === WebSocket.OPEN) this.#webSocket.ping();
  }

  isUnresponsive(now: number): boolean {
    return this.#unansweredSince !== undefined && now - this.#unansweredSince >= 2 * watchKeepAliveMs;
  }

  end(ending: Ending): void {
    const error = errorEvent(ending);
    if (error !== undefined) {
      const parts: Uint8Array[] = [];
      this.encoding.encode(error, parts);
      this.write(Buffer.concat(parts));
    }
    if (ending.reason === 'unresponsive') this.#webSocket.terminate();
    else this.#webSocket.close(endings[ending.reason].closeCode, closeReason(ending.detail));
  }
}

/** A close frame holds at most 125 bytes, two of them the code. Details are ASCII but for what a client sent itself. */
function closeReason(detail: string): string {
  return detail.replaceAll(/[^ -~]/gu, '?').slice(0, 123);
}
