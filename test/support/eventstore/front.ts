import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';

/**
 * A proxy in front of the gRPC server, which passes all bytes on. It reproduces the effects on connections when a
 * process or a network fails, stops or is unreachable.
 */
export class Front {
  readonly #inner: () => number;
  #server: Server | undefined;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #paused = false;
  /** Connections that arrived during a pause: the kernel accepts them, and nobody responds. */
  readonly #waiting: Socket[] = [];
  #port = 0;

  /** @param inner - the port of the gRPC server behind the proxy. */
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

  /** Pauses the proxy: its connections stay open, new ones are accepted, and no data moves. */
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
