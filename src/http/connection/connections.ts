import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

type Connection = {
  /** The response to the latest request; undefined after the response is closed. */
  last: ServerResponse | undefined;
  /** The latest request, if its response was sent before its body had arrived completely. */
  partial: IncomingMessage | undefined;
  /** Responses to pipelined requests that wait for earlier responses. */
  readonly queued: Set<ServerResponse>;
  /** The `drain` listeners, which resume writing. Node removes these listeners when a connection upgrades. */
  onDrain: readonly ((...args: unknown[]) => void)[];
  readonly onResponseClose: (this: ServerResponse) => void;
};

export class Connections {
  readonly #open = new Map<Socket, Connection>();
  /** Connections without a parser, which Node does not track. */
  readonly #unparsed = new Set<Socket>();

  /** Tracks a connection. Handles repeated `connection` events of one socket. */
  add(socket: Socket): void {
    const known = this.#open.get(socket);
    const connection = known ?? newConnection();
    connection.onDrain = socket.listeners('drain').map((listener) => (...args) => {
      Reflect.apply(listener, socket, args);
    });
    if (known !== undefined) return;
    this.#open.set(socket, connection);
    socket.once('close', () => {
      this.#open.delete(socket);
      for (const res of connection.queued) if (res.socket === null) closeUnsent(res);
    });
  }

  /** Tracks a request and its response. Must run before other code handles the request. */
  begin({ socket, method }: IncomingMessage, res: ServerResponse): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    // Data after a CONNECT may be intended for the requested target, so this server must not read it as a request.
    if (method === 'CONNECT') res.shouldKeepAlive = false;
    if (res.socket === null) connection.queued.add(res);
    connection.last = res;
    res.on('close', connection.onResponseClose);
  }

  /** Returns the last pending response on the connection; undefined when all requests are answered. */
  unanswered(socket: Socket): ServerResponse | undefined {
    return this.#open.get(socket)?.last;
  }

  /** Returns whether all requests are answered, but the body of the latest request has not arrived completely. */
  isWithinRequest(socket: Socket): boolean {
    return this.#open.get(socket)?.partial?.complete === false;
  }

  /** Marks a connection as unparsed. Its responses are still written. Returns a function that removes the mark. */
  pauseParsing(socket: Socket): () => void {
    const { onDrain = [] } = this.#open.get(socket) ?? {};
    for (const listener of onDrain) socket.on('drain', listener);
    this.#unparsed.add(socket);
    const end = (): void => {
      this.#unparsed.delete(socket);
      for (const listener of onDrain) socket.off('drain', listener);
    };
    socket.once('close', end);
    return () => {
      socket.off('close', end);
      end();
    };
  }

  /**
   * Closes idle connections that Node's server does not close: unused connections, ended connections, and connections
   * with neither a parser nor a pending response.
   */
  destroyIdle(): void {
    for (const socket of this.#open.keys()) if (socket.bytesRead === 0 || socket.writableFinished) socket.destroy();
    for (const socket of this.#unparsed) if (this.unanswered(socket) === undefined) socket.destroy();
  }

  destroyAll(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }
}

function newConnection(): Connection {
  const connection: Connection = {
    last: undefined,
    partial: undefined,
    queued: new Set(),
    onDrain: [],
    onResponseClose(this: ServerResponse) {
      if (connection.last === this) {
        connection.last = undefined;
        connection.partial = this.req.complete ? undefined : this.req;
      }
      if (connection.queued.size > 0) connection.queued.delete(this);
    },
  };
  return connection;
}

/** Closes a response that waits for earlier responses, by assigning a destroyed socket. */
export function closeUnsent(res: ServerResponse): void {
  // Node's own listener would detach the response from the request's socket, and throw an error.
  res.removeAllListeners('finish');
  res.assignSocket(new Socket().destroy());
}
