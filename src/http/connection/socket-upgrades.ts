import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';

import { watchKeepAliveMs, watchSocketCloseMs } from '../../limits/watches.ts';
import { problem, type Problem } from '../problem.ts';
import { sendProblem, type Edge } from '../send.ts';
import { besideBearer } from './bearer-subprotocol.ts';
import { responseOn } from './socket-response.ts';

/** The subprotocol that Kubernetes' clients offer beside a token. */
const knownSubprotocol = 'base64.binary.k8s.io';

const serverOptions = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  /** `answerPings` sends the pongs instead, so that pongs do not accumulate for a client that does not read. */
  autoPong: false,
  closeTimeout: watchSocketCloseMs,
  handleProtocols: (offered: ReadonlySet<string>, req: IncomingMessage) =>
    besideBearer(req) ?? (offered.has(knownSubprotocol) ? knownSubprotocol : false),
} as const;

/**
 * Limits of client messages. A longer message closes the connection with code 1009. Too many fragments or chunks close
 * the connection with code 1008.
 */
export type ClientBounds = {
  readonly messageBytesMax: number;
  /** The most frames of one message. */
  readonly fragmentsMax: number;
  /** The most received chunks that are not parsed yet. */
  readonly chunksMax: number;
};

export class SocketUpgrades {
  readonly #server: WebSocketServer;
  /** The problem of the handshake in progress. */
  #refused: string | undefined;

  constructor({ messageBytesMax, fragmentsMax, chunksMax }: ClientBounds) {
    this.#server = new WebSocketServer({
      ...serverOptions,
      maxPayload: messageBytesMax,
      maxFragments: fragmentsMax,
      maxBufferedChunks: chunksMax,
    });
    // With this listener, the library does not write the response to a failed handshake.
    this.#server.on('wsClientError', ({ message }) => {
      this.#refused = message;
    });
  }

  /**
   * Performs the handshake, and calls `opened` synchronously. A failed handshake leaves the connection unchanged, and
   * the problem is returned.
   */
  accept(
    req: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    opened: (webSocket: WebSocket) => void,
  ): Problem | undefined {
    this.#refused = undefined;
    this.#server.handleUpgrade(req, socket, head, (webSocket) => {
      // After a protocol violation of the peer, the library closes the connection and emits `close`.
      webSocket.on('error', () => undefined);
      answerPings(webSocket);
      opened(webSocket);
    });
    return this.#refusal();
  }

  #refusal(): Problem | undefined {
    return this.#refused === undefined
      ? undefined
      : problem('bad-request', this.#refused, { headers: ['Sec-WebSocket-Version', '13'] });
  }
}

/**
 * Sends one pong at a time, and then answers only the latest ping (RFC 6455, 5.5.3). Otherwise a client that sends
 * pings without reading could make a buffer grow.
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
    // Copies the data, because a reference would keep a larger buffer in memory.
    if (isAnswering) latest = Buffer.from(data);
    else if (webSocket.readyState === WebSocket.OPEN) answer(data);
  });
}

type UpgradeRequest = {
  readonly req: IncomingMessage;
  readonly socket: Duplex;
  readonly requestId: string;
};

/** Sends the refusal of an upgrade as an HTTP response, and closes the connection. */
export function refuseUpgrade({ req, socket, requestId }: UpgradeRequest, refusal: Problem, edge: Edge): void {
  socket.on('error', () => undefined);
  const response = responseOn(socket, req, edge.clock);
  if (response !== undefined) sendProblem({ req, res: response.res, requestId }, refusal, edge);
}

/** An empty ping (RFC 6455, 5.5.2). */
export const pingFrame = Buffer.from([0x89, 0]);

export class Pings {
  readonly #webSocket: WebSocket;
  /** The time of the first unanswered ping, in milliseconds. */
  #unansweredSince: number | undefined;

  constructor(webSocket: WebSocket) {
    this.#webSocket = webSocket;
    webSocket.on('pong', () => {
      this.forget();
    });
  }

  send(now: number): void {
    this.asked(now);
    if (this.#webSocket.readyState === WebSocket.OPEN) this.#webSocket.ping();
  }

  /** Records a ping that has been sent, or has been queued after other data. */
  asked(now: number): void {
    this.#unansweredSince ??= now;
  }

  /** Call this method after a time in which pongs could not be read. */
  forget(): void {
    this.#unansweredSince = undefined;
  }

  areUnanswered(now: number): boolean {
    return this.#unansweredSince !== undefined && now - this.#unansweredSince >= 2 * watchKeepAliveMs;
  }
}

/** Shortens a reason to the size of a close frame: 125 bytes, of which the code uses two. */
export function closeReason(detail: string): string {
  return detail.replaceAll(/[^ -~]/gu, '?').slice(0, 123);
}
