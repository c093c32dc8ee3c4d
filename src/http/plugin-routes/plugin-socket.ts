import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';

import { watchKeepAliveMs } from '../../limits/watches.ts';
import type { PluginSocket } from '../../plugin/api/plugin.ts';
import { Frames } from '../../watch/frames.ts';
import type { Connection, Finish, Outbox } from '../../watch/outbox.ts';
import {
  pluginSocketMessageBytesMax,
  pluginSocketRefusedBytesMax,
  pluginSocketUnreadMs,
  pluginSocketWaitingBytesMax,
  pluginStreamUnreadMs,
} from './route-limits.ts';
import {
  crowdedOut,
  forgettingEndings,
  rightsLost,
  streamBeatMs,
  streamEndings,
  type OpenStream,
  type OpenStreams,
  type StreamEnding,
} from './plugin-streams.ts';
import { SocketInbox } from './socket-inbox.ts';
import { closeReason, Pings } from '../connection/socket-upgrades.ts';
import { binaryFrame, frameHeader } from '../watch/watch-socket.ts';

export type SocketParts = Pick<OpenStream, 'mount' | 'subject' | 'request'> & {
  readonly webSocket: WebSocket;
  readonly socket: Duplex;
  /** The account of the client, for limits of unread data. */
  readonly account: string;
  readonly now: number;
  readonly streams: OpenStreams;
  /** Called when the socket has ended, for any reason. */
  readonly onOver: () => void;
};

/**
 * A WebSocket that a plugin serves. Reading pauses if too many received messages wait for the plugin. `send` returns
 * false if too many sent messages wait for the client.
 */
export class SocketConnection implements OpenStream {
  readonly transport = 'websocket';
  readonly mount: OpenStream['mount'];
  readonly subject: OpenStream['subject'];
  readonly request: OpenStream['request'];
  /** The interface of the socket for the plugin. */
  readonly pluginSocket: PluginSocket;
  readonly #parts: SocketParts;
  readonly #pings: Pings;
  readonly #inbox: SocketInbox;
  /** Messages that the connection has not accepted. */
  readonly #outbox: Outbox;
  #isOver = false;
  /** Whether the plugin was notified of the end. */
  #hasLeft = false;
  #pingedAt: number;
  /** The time of the last `beat`, in milliseconds. */
  #now: number;
  /** The start of the pause of reading, in milliseconds; undefined without a pause. */
  #pausedSince: number | undefined;
  /** The number of bytes refused since the last accepted message. */
  #refusedBytes = 0;
  /** The time of the first `beat` without progress of the peer; undefined after progress, or without unread data. */
  #unsentSince: number | undefined;
  /** The number of bytes that were passed to the outbox. */
  #sentBytes = 0;
  /** The number of bytes that the peer had accepted at the last `beat`. */
  #takenBytes = 0;

  /** Opens the socket. Must be called in a turn in which `OpenStreams.refusal` has returned undefined. */
  constructor(parts: SocketParts) {
    const { webSocket, now } = parts;
    this.mount = parts.mount;
    this.subject = parts.subject;
    this.request = parts.request;
    this.#parts = parts;
    this.#pings = new Pings(webSocket);
    this.#inbox = new SocketInbox(() => {
      this.#readOn();
    });
    this.#outbox = parts.streams.outboxes.open(connectionOf(parts), {
      account: parts.account,
      onOverflow: () => {
        this.end(crowdedOut);
      },
    });
    this.#pingedAt = now;
    this.#now = now;
    const { messages } = this.#inbox;
    // The methods are arrow functions, so that a plugin may destructure the object.
    this.pluginSocket = {
      messages,
      send: (message) => this.#send(message),
      drained: async () => {
        await this.#outbox.drained();
      },
      close: (code, reason) => {
        this.#closeAs(code, reason);
      },
    };
    webSocket.on('message', (data, isBinary) => {
      this.#receive(data, isBinary);
    });
    webSocket.once('close', () => {
      this.#stop('dropped', () => {
        this.#outbox.closed();
      });
    });
    // After a protocol violation of the peer, the library closes the socket.
    webSocket.once('error', () => {
      this.#stop('sent');
    });
    parts.streams.add(this);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  beat(now: number): void {
    this.#now = now;
    const { unreadBytes } = this.#outbox;
    const takenBytes = this.#sentBytes - unreadBytes;
    this.#unsentSince = unreadBytes === 0 || takenBytes > this.#takenBytes ? undefined : (this.#unsentSince ?? now);
    this.#takenBytes = takenBytes;
    if (this.#pings.areUnanswered(now))
      this.end({ reason: 'unresponsive', detail: 'the client does not answer pings' });
    else if (hasPassed(this.#unsentSince, pluginStreamUnreadMs, now))
      this.end({ reason: 'too-slow', detail: 'the client does not read' });
    else if (hasPassed(this.#pausedSince, pluginSocketUnreadMs, now))
      this.end({ reason: 'too-slow', detail: `the plugin ${this.mount.plugin} does not read its incoming messages` });
    else if (now - this.#pingedAt > watchKeepAliveMs - streamBeatMs) this.#ping(now);
  }

  end({ reason, detail }: StreamEnding): void {
    if (this.#isOver) return;
    if (reason === 'unresponsive')
      this.#stop('dropped', () => {
        this.#outbox.cut();
      });
    else this.#finish(streamEndings[reason], closeReason(detail), forgettingEndings.has(reason) ? 'dropped' : 'sent');
  }

  hold(): void {
    this.#outbox.hold();
  }

  applyVerdict(isAllowed: boolean): void {
    this.#outbox.applyVerdict(isAllowed);
    if (!isAllowed) this.end(rightsLost);
  }

  #finish(code: number, reason: string, rest: Finish['rest']): void {
    const close = (): void => {
      this.#parts.webSocket.close(code, reason);
    };
    this.#stop(rest, () => {
      this.#outbox.finish({ rest, last: undefined, close });
    });
  }

  /** Sends a ping, unless reading is paused, because pongs would not be read then. */
  #ping(now: number): void {
    this.#pingedAt = now;
    if (this.#pausedSince === undefined) this.#pings.send(now);
  }

  #receive(data: WebSocket.RawData, isBinary: boolean): void {
    if (this.#isOver) return;
    // `data` is a single buffer, because the socket has the default `binaryType`.
    const bytes = Buffer.isBuffer(data) ? data : Buffer.concat(Array.isArray(data) ? data : [new Uint8Array(data)]);
    this.#inbox.push(isBinary ? bytes : bytes.toString('utf8'));
    if (!this.#inbox.isFull() || this.#pausedSince !== undefined) return;
    this.#pausedSince = this.#now;
    this.#parts.webSocket.pause();
  }

  #readOn(): void {
    this.#pausedSince = undefined;
    this.#pings.forget();
    this.#parts.webSocket.resume();
  }

  #send(message: unknown): boolean {
    const { webSocket } = this.#parts;
    const { isBinary, bytes } = payloadOf(message);
    if (this.#isOver || webSocket.readyState !== WebSocket.OPEN) return false;
    const { unreadBytes } = this.#outbox;
    if (unreadBytes + bytes.length > pluginSocketWaitingBytesMax && unreadBytes > 0) {
      this.#refusedBytes += bytes.length;
      if (this.#refusedBytes > pluginSocketRefusedBytesMax)
        this.end({ reason: 'too-slow', detail: 'the client does not read' });
      return false;
    }
    this.#refusedBytes = 0;
    const header = frameHeader(bytes.length, isBinary ? binaryFrame : undefined);
    const frames = new Frames(Buffer.concat([header, bytes]));
    this.#sentBytes += frames.bytes.length;
    this.#outbox.push(frames);
    // If the push exceeded the limit for all streams, this stream may have ended.
    return !this.#isOver;
  }

  #closeAs(code = 1_000, reason = ''): void {
    if (code !== 1_000 && !(Number.isInteger(code) && code >= 3_000 && code <= 4_999))
      throw new RangeError(`the close code must be 1000 or from 3000 to 4999, not ${String(code)}`);
    if (typeof reason !== 'string' || Buffer.byteLength(reason) > 123)
      throw new RangeError('the close reason must be a string of at most 123 bytes');
    if (!this.#isOver) this.#finish(code, reason, 'sent');
  }

  /** Stops the socket. `rest` determines whether queued messages are sent or dropped. */
  #stop(rest: Finish['rest'], finish: () => void = () => undefined): void {
    this.#isOver = true;
    this.#outbox.stop(rest, () => {
      this.#leave();
      finish();
    });
  }

  #leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    const { webSocket, streams, onOver } = this.#parts;
    streams.delete(this);
    this.#inbox.close();
    // Further messages are dropped, but must be read, because the peer's close frame follows the messages.
    if (this.#pausedSince !== undefined) webSocket.resume();
    this.#pausedSince = undefined;
    onOver();
  }
}

/** Writes only whole frames, because the library may write a control frame after each write. */
function connectionOf({ webSocket, socket }: Pick<SocketParts, 'webSocket' | 'socket'>): Connection {
  return {
    write: (bytes, onWritten) => {
      // No data may follow a close frame.
      if (webSocket.readyState !== WebSocket.OPEN) {
        onWritten();
        return;
      }
      let isTaken = false;
      const takenOnce = (): void => {
        if (isTaken) return;
        isTaken = true;
        onWritten();
      };
      socket.write(bytes, takenOnce);
      // The callback runs in a later turn, and a plugin could exceed its limit in this turn. So a complete write is
      // reported at once.
      if (socket.writableLength === 0) takenOnce();
    },
    cut: () => {
      webSocket.terminate();
    },
  };
}

type Payload = {
  readonly isBinary: boolean;
  readonly bytes: Uint8Array;
};

function payloadOf(message: unknown): Payload {
  const isBinary = message instanceof Uint8Array;
  const text: unknown = isBinary || typeof message === 'string' ? message : JSON.stringify(message);
  if (typeof text !== 'string' && !isBinary)
    throw new TypeError(`cannot send a ${typeof message}: the message is not JSON`);
  const bytes = isBinary ? message : Buffer.from(String(text));
  if (bytes.length > pluginSocketMessageBytesMax) {
    const most = String(pluginSocketMessageBytesMax);
    throw new RangeError(`a message must be at most ${most} bytes, but has ${String(bytes.length)}`);
  }
  return { isBinary, bytes };
}

function hasPassed(since: number | undefined, limitMs: number, now: number): boolean {
  return since !== undefined && now - since >= limitMs;
}
