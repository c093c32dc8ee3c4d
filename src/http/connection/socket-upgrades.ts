import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';

import { watchKeepAliveMs, watchSocketCloseMs } from '../../limits/watches.ts';
import { problem, type Problem } from '../problem.ts';
import { sendProblem, type Edge } from '../send.ts';
import { responseOn } from './socket-response.ts';

/** The subprotocol that Kubernetes' clients ask for beside a token. Another one is not confirmed, as it would be a promise. */
const knownSubprotocol = 'base64.binary.k8s.io';

const serverOptions = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  /** `answerPings` does it: unread answers to a client's pings must not pile up. */
  autoPong: false,
  /** The library's own timer: it only ever cuts a connection whose peer does not answer a close. */
  closeTimeout: watchSocketCloseMs,
  handleProtocols: (offered: ReadonlySet<string>) => (offered.has(knownSubprotocol) ? knownSubprotocol : false),
} as const;

/** What a client may send: a longer message is closed with 1009, more pieces of one with 1008. */
export type ClientBounds = {
  readonly messageBytesMax: number;
  /** Frames of one message, and chunks that were received and not yet parsed. */
  readonly fragmentsMax: number;
  readonly chunksMax: number;
};

/** Turns upgrade requests into sockets. */
export class SocketUpgrades {
  readonly #server: WebSocketServer;
  /** What is wrong with the handshake at hand; undefined between two of them. */
  #refused: string | undefined;

  constructor({ messageBytesMax, fragmentsMax, chunksMax }: ClientBounds) {
    this.#server = new WebSocketServer({ ...serverOptions, maxPayload: messageBytesMax, maxFragments: fragmentsMax, maxBufferedChunks: chunksMax });
    // Listened to, the library leaves the answer to us.
    this.#server.on('wsClientError', ({ message }) => { this.#refused = message; });
  }

  /** Calls `opened` within this call, or returns why the handshake is none; the connection is then as it was. */
  accept(req: IncomingMessage, socket: Duplex, head: Buffer, opened: (webSocket: WebSocket) => void): Problem | undefined {
    this.#refused = undefined;
    this.#server.handleUpgrade(req, socket, head, (webSocket) => {
      // A peer that breaks the protocol is closed with its code by the library, and one that vanishes by `close`.
      webSocket.on('error', () => undefined);
      answerPings(webSocket);
      opened(webSocket);
    });
    return this.#refusal();
  }

  #refusal(): Problem | undefined {
    return this.#refused === undefined ? undefined : problem('bad-request', this.#refused, { headers: ['Sec-WebSocket-Version', '13'] });
  }
}

/**
 * One answer at a time is on its way; of the pings that come meanwhile the last one is answered next (RFC 6455, 5.5.3). So
 * a client that pings and reads nothing makes nothing grow.
 */
function answerPings(webSocket: WebSocket): void {
  let isAnswering = false;
  let latest: Buffer | undefined;
  const answered = (error?: Error): void => {
    isAnswering = false;
    if (error === undefined && latest !== undefined) answer(latest);
  };
  const answer = (data: Buffer): void => {
    isAnswering = true;
    latest = undefined;
    webSocket.pong(data, false, answered);
  };
  webSocket.on('ping', (data: Buffer) => {
    // A copy: what was received is a part of a larger buffer.
    if (isAnswering) latest = Buffer.from(data);
    else if (webSocket.readyState === WebSocket.OPEN) answer(data);
  });
}

/** An upgrade that fails is answered in plain HTTP, and the connection with it ends. */
export function refuseUpgrade({ req, socket, requestId }: { readonly req: IncomingMessage; readonly socket: Duplex; readonly requestId: string }, refusal: Problem, edge: Edge): void {
  socket.on('error', () => undefined);
  const response = responseOn(socket, req, edge.clock);
  if (response !== undefined) sendProblem({ req, res: response.res, requestId }, refusal, edge);
}

/** An empty ping (RFC 6455, 5.5.2). */
export const pingFrame = Buffer.from([0x89, 0]);

/** Asks a WebSocket's peer whether it is there, and remembers for how long it has not said so. */
export class Pings {
  readonly #webSocket: WebSocket;
  /** When the first of the pings was sent that have no answer yet. */
  #unansweredSince: number | undefined;

  constructor(webSocket: WebSocket) {
    this.#webSocket = webSocket;
    webSocket.on('pong', () => { this.forget(); });
  }

  send(now: number): void {
    this.asked(now);
    if (this.#webSocket.readyState === WebSocket.OPEN) this.#webSocket.ping();
  }

  /** A ping was sent, or waits behind what the peer does not read. */
  asked(now: number): void {
    this.#unansweredSince ??= now;
  }

  /** What was asked counts no more: nobody could have read the answer. */
  forget(): void {
    this.#unansweredSince = undefined;
  }

  areUnanswered(now: number): boolean {
    return this.#unansweredSince !== undefined && now - this.#unansweredSince >= 2 * watchKeepAliveMs;
  }
}

/** A close frame holds at most 125 bytes, two of them the code. Details are ASCII but for what a client sent itself. */
export function closeReason(detail: string): string {
  return detail.replaceAll(/[^ -~]/gu, '?').slice(0, 123);
}
