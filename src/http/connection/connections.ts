import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

type Connection = {
  /** The response to the latest request, until it is sent or its connection is gone. */
  last: ServerResponse | undefined;
  /** The latest request, where its response was sent before its body had come. */
  partial: IncomingMessage | undefined;
  /** Responses to pipelined requests that are not the connection's turn yet. */
  readonly queued: Set<ServerResponse>;
  /** What tells a response that more may be written. Node removes it when a connection leaves HTTP. */
  onDrain: readonly ((...args: unknown[]) => void)[];
  readonly onResponseClose: (this: ServerResponse) => void;
};

/** Every open connection, and whether requests on it are still to be answered. */
export class Connections {
  readonly #open = new Map<Socket, Connection>();
  /** Those that Node does not know while no parser reads them. */
  readonly #unparsed = new Set<Socket>();

  /** Call it for each `connection` event of the server: one socket may have several, as it may come back to HTTP. */
  add(socket: Socket): void {
    const known = this.#open.get(socket);
    const connection = known ?? newConnection();
    connection.onDrain = socket.listeners('drain')
      .map((listener) => (...args) => { Reflect.apply(listener, socket, args); });
    if (known !== undefined) return;
    this.#open.set(socket, connection);
    socket.once('close', () => {
      this.#open.delete(socket);
      for (const res of connection.queued) if (res.socket === null) closeUnsent(res);
    });
  }

  /** Call it for each request that Node hands over with a response, before anything else sees it. */
  begin({ socket, method }: IncomingMessage, res: ServerResponse): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    // What follows a CONNECT may be meant for whatever it asked for, and not for this server.
    if (method === 'CONNECT') res.shouldKeepAlive = false;
    if (res.socket === null) connection.queued.add(res);
    connection.last = res;
    res.on('close', connection.onResponseClose);
  }

  /** The response after which every request on the connection is answered; undefined when they are. */
  unanswered(socket: Socket): ServerResponse | undefined {
    return this.#open.get(socket)?.last;
  }

  /** Whether everything is answered while the body of the latest request is still coming. */
  isWithinRequest(socket: Socket): boolean {
    return this.#open.get(socket)?.partial?.complete === false;
  }

  /** No parser reads the connection for now; its responses go on being written. Returns what ends that. */
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
   * Those without a request that Node takes for busy: browsers open connections in advance, which send nothing, and a
   * peer need not close its side of a connection that was ended.
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
    last: undefined, partial: undefined, queued: new Set(), onDrain: [],
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

/** Node closes only the response whose turn it is. On a socket that is gone this one closes like any other. */
export function closeUnsent(res: ServerResponse): void {
  // Node's own would detach it from the socket of its request, and throw.
  res.removeAllListeners('finish');
  res.assignSocket(new Socket().destroy());
}
