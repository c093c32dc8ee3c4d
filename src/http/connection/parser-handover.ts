import type { Server } from 'node:http';
import type { Socket } from 'node:net';

import { readAheadBytesMax } from '../../limits/requests.ts';
import type { Connections } from './connections.ts';

type Parts = {
  readonly server: Server;
  readonly connections: Connections;
  readonly socket: Socket;
  /** Data after the request at which the parser stopped. */
  readonly head: Buffer;
  /** Runs a task for a connection. An exception ends the connection, not the process. */
  readonly guard: (socket: Socket, task: () => void) => void;
};

/**
 * A connection after a request at which Node's parser has stopped. A new parser starts when all earlier requests are
 * answered and more data has arrived.
 */
class Interlude {
  readonly #parts: Parts;
  readonly #chunks: Buffer[] = [];
  readonly #resumeParsing: () => void;
  #bytes = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#resumeParsing = parts.connections.pauseParsing(parts.socket);
  }

  begin(): void {
    const { connections, socket, head, guard } = this.#parts;
    socket.on('data', this.#read).on('end', this.#end).on('timeout', this.#timeout).on('error', ignore);
    if (head.length > 0) this.#read(head);
    connections.unanswered(socket)?.once('close', () => {
      guard(socket, () => {
        this.#resume();
      });
    });
  }

  readonly #read = (chunk: Buffer): void => {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    this.#parts.guard(this.#parts.socket, () => {
      this.#resume();
    });
    if (this.#bytes >= readAheadBytesMax) this.#parts.socket.pause();
  };

  readonly #end = (): void => {
    this.#parts.socket.end();
  };

  readonly #timeout = (): void => {
    this.#parts.socket.destroy();
  };

  #resume(): void {
    const { server, connections, socket } = this.#parts;
    if (this.#chunks.length === 0 || connections.unanswered(socket) !== undefined) return;
    if (!socket.writable || socket.readableEnded) return;
    socket.off('data', this.#read).off('end', this.#end).off('timeout', this.#timeout).off('error', ignore);
    this.#resumeParsing();
    // Stops the timer for the idle time between two requests, which Node would not stop.
    socket.setTimeout(0);
    socket.unshift(Buffer.concat(this.#chunks));
    server.emit('connection', socket);
    socket.resume();
  }
}

/** Continues a connection with a new parser. Must be called synchronously in the `upgrade` or `connect` event. */
export function resumeBehind(parts: Parts): void {
  new Interlude(parts).begin();
}

function ignore(): void {
  // Node emits `close` after an `error`. Without a listener, an `error` event would end the process.
}
