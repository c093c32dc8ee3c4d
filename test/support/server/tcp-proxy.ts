import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import { resetSocket } from '../reset-socket.ts';

/** Forwards connections to a server that may change, and resets them when a test calls `cut`. */
export class TcpProxy {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  /** The port of the server; undefined: new connections are refused. */
  target: number | undefined;
  /** The number of calls of `cut` that found an open connection. */
  cuts = 0;

  private constructor(target: number | undefined) {
    this.target = target;
    this.#server = createServer((near) => {
      this.#pass(near);
    });
  }

  static async start(url: string | undefined): Promise<TcpProxy> {
    const proxy = new TcpProxy(url === undefined ? undefined : Number(new URL(url).port));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.port)}`;
  }

  get connections(): number {
    return this.#pairs.size;
  }

  /** Resets every open connection, even in the middle of a message. */
  cut(): void {
    this.cuts += this.#pairs.size > 0 ? 1 : 0;
    for (const [near, far] of this.#pairs) {
      resetSocket(near);
      resetSocket(far);
    }
  }

  async close(): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, 'close');
  }

  #pass(near: Socket): void {
    near.on('error', () => undefined);
    if (this.target === undefined) {
      resetSocket(near);
      return;
    }
    const far = connect(this.target, '127.0.0.1');
    far.on('error', () => undefined);
    const pair = [near, far] as const;
    this.#pairs.add(pair);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.pipe(other);
      one.once('close', () => {
        other.destroy();
        this.#pairs.delete(pair);
      });
    }
  }
}
