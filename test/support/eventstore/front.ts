import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';

/**
 * The door in front of the gRPC server: every byte passes through it, so that it can do what a process or a network
 * does to connections when it dies, stops or is not there.
 */
export class Front {
  readonly #inner: () => number;
  #server: Server | undefined;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #paused = false;
  /** Connections that came while it was stopped: the kernel takes them, nobody answers. */
  readonly #waiting: Socket[] = [];
  #port = 0;

  /** @param inner - the port of the gRPC server behind it. */
  constructor(inner: () => number) {
    this.#inner = inner;
  }

  get port(): number {
    return this.#port;
  }

  async open(port: number): Promise<void> {
    const server = createServer({ noDelay: true }, (socket) => {
      this.#take(socket);
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    this.#server = server;
    const address = server.address();
    this.#port = typeof address === 'object' && address !== null ? address.port : port;
  }

  #take(socket: Socket): void {
    socket.on('error', () => undefined);
    if (this.#paused) {
      this.#waiting.push(socket);
      return;
    }
    const inner = connect({ port: this.#inner(), host: '127.0.0.1', noDelay: true });
    const pair = [socket, inner] as const;
    this.#pairs.add(pair);
    const over = (): void => {
      this.#pairs.delete(pair);
      socket.destroy();
      inner.destroy();
    };
    inner.on('error', over).on('close', over);
    socket.on('close', over);
    socket.pipe(inner).pipe(socket);
  }

  drop(): void {
    for (const [outer, inner] of this.#pairs) {
      outer.destroy();
      inner.destroy();
    }
    this.#pairs.clear();
  }

  /** Connections stay, new ones are taken, and nothing moves. */
  pause(): void {
    this.#paused = true;
    for (const [outer, inner] of this.#pairs) {
      outer.unpipe(inner).pause();
      inner.unpipe(outer).pause();
    }
  }

  resume(): void {
    this.#paused = false;
    for (const [outer, inner] of this.#pairs) outer.pipe(inner).pipe(outer);
    for (const socket of this.#waiting.splice(0)) this.#take(socket);
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    this.#paused = false;
    for (const socket of this.#waiting.splice(0)) socket.destroy();
    if (server === undefined) return;
    const closed = once(server, 'close');
    server.close();
    this.drop();
    await closed;
  }
}
